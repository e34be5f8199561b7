extension BlueZ {
    func report(_ event: PeripheralEvent) { _ = serving?.events.put(event) }

    /// Reports what a central did; a central whose events are not read in time is disconnected.
    private func report(_ event: PeripheralEvent, of central: CentralID) {
        guard let events = serving?.events, !events.put(event) else { return }
        events.forget(central)
        Task { await self.disconnect(central) }
    }

    /// The central behind a device's path; reports it as connected with its first use of the service.
    private func centralID(ofDevice path: String) -> CentralID? {
        if let known = serving?.centrals[path] { return known.id }
        if objects.isConnected(path) { serving?.departed.remove(path) }
        guard serving?.departed.contains(path) == false, let address = objects.address(ofDevice: path) else {
            return nil
        }
        let id = CentralID(address: address, number: nextNumber())
        serving?.centrals[path] = Serving.Central(id: id)
        report(.connected(id))
        guard objects[path, BlueZName.device]?["Paired"]?.flag == true else { return id }
        for characteristic in serving?.keptSubscriptions[path] ?? [] {
            serving?.centrals[path]?.subscriptions.insert(characteristic)
            report(.subscribed(id, characteristic: characteristic, .notify), of: id)
        }
        return id
    }

    /// Called when the connection of a device has ended.
    func depart(_ path: String) {
        serving?.departed.insert(path)
        forget(path)
    }

    func forget(_ path: String) {
        guard let central = serving?.centrals.removeValue(forKey: path) else { return }
        for characteristic in central.subscriptions {
            report(.unsubscribed(central.id, characteristic: characteristic))
        }
        report(.disconnected(central.id))
    }

    func disconnect(_ central: CentralID) async {
        guard let path = serving?.centrals.first(where: { $0.value.id == central })?.key else { return }
        await hangUp(path)
    }

    /// Disconnects a device and waits until the connection has ended.
    func hangUp(_ device: String) async {
        _ = await call(BusCall(path: device, interface: BlueZName.device, member: "Disconnect", timeout: .seconds(10)))
        _ = await wait(for: .seconds(5)) { $0.isConnected(device) ? nil : .yes }
    }

    // MARK: Answers to bluetoothd

    /// Answers a call to one of the exported objects.
    ///
    /// `AcquireNotify` is refused: bluetoothd names the subscribing central in the call, and after a refusal it
    /// continues as if the method had not been offered, so that it names the next central too. An accepted socket
    /// would be shared by all of them.
    func answer(_ message: BusMessage) {
        guard let bus else { return }
        let nothing = BusFailure(name: "org.freedesktop.DBus.Error.UnknownObject", text: "nothing is served")
        guard message.sender == owner else { return bus.refuse(message, nothing) }
        let arguments = message.arguments()
        if message.interface == BlueZName.agent, message.path == Self.agentPath {
            return decide(message.member, arguments).map { bus.refuse(message, $0) } ?? bus.answer(message)
        }
        guard let serving else { return bus.refuse(message, nothing) }
        switch (message.interface, message.member) {
        case (BlueZName.objectManager, "GetManagedObjects") where message.path == BlueZApplication.root:
            return bus.answer(message, with: [.objects(serving.application.objects)])
        case (BlueZName.properties, "GetAll"):
            guard
                let properties = serving.application.properties(
                    of: message.path, interface: arguments.first?.text ?? "")
            else { break }
            return bus.answer(message, with: [.options(properties)])
        case (BlueZName.gattCharacteristic, let member):
            guard let uuid = serving.application.characteristic(at: message.path) else { break }
            let failure = use(uuid, member, arguments)
            return failure.map { bus.refuse(message, $0) } ?? bus.answer(message)
        case (BlueZName.advertisement, "Release"):
            bus.answer(message)
            goOff(.failed(operation: "advertise", reason: "bluetoothd withdrew the advertisement"))
            return retryLater()
        default: break
        }
        bus.refuse(
            message, BusFailure(name: "org.freedesktop.DBus.Error.UnknownMethod", text: "there is no such method"))
    }

    private func use(_ characteristic: BluetoothUUID, _ member: String, _ arguments: [BusValue]) -> BusFailure? {
        switch member {
        case "WriteValue":
            guard arguments.count == 2, let value = arguments[0].bytes, let options = arguments[1].table,
                let central = central(in: options)
            else { return BusFailure(name: "org.bluez.Error.Failed", text: "the write does not name a device") }
            guard options["offset"]?.number ?? 0 == 0 else {
                return BusFailure(name: "org.bluez.Error.InvalidOffset", text: "values are written whole")
            }
            report(.written(central, characteristic: characteristic, value: value), of: central)
            return nil
        case "AcquireNotify":
            if let options = arguments.first?.table { subscribe(options, to: characteristic) }
            return BusFailure(name: "org.bluez.Error.NotSupported", text: "values are sent with PropertiesChanged")
        case "StopNotify":
            // The last central has unsubscribed; bluetoothd does not report the earlier ones.
            for (path, central) in serving?.centrals ?? [:] where central.subscriptions.contains(characteristic) {
                serving?.centrals[path]?.subscriptions.remove(characteristic)
                report(.unsubscribed(central.id, characteristic: characteristic))
            }
            return nil
        case "StartNotify", "Confirm": return nil
        default: return BusFailure(name: "org.bluez.Error.NotPermitted", text: "it cannot be read")
        }
    }

    private func central(in options: [String: BusValue]) -> CentralID? {
        guard let path = options["device"]?.text, let central = centralID(ofDevice: path) else { return nil }
        if let mtu = options["mtu"]?.number { serving?.centrals[path]?.mtu = Int(mtu) }
        return central
    }

    private func subscribe(_ options: [String: BusValue], to characteristic: BluetoothUUID) {
        guard let path = options["device"]?.text, let central = central(in: options),
            serving?.centrals[path]?.subscriptions.insert(characteristic).inserted == true
        else { return }
        serving?.keptSubscriptions[path, default: []].insert(characteristic)
        report(.subscribed(central, characteristic: characteristic, .notify), of: central)
    }

    // MARK: Values

    /// Sends a value to one central. bluetoothd sends it to all subscribed centrals, so the others are disconnected
    /// first.
    func notify(
        _ value: [UInt8], to central: CentralID, characteristic: BluetoothUUID,
        sparing: @escaping @Sendable () async -> Set<CentralID>
    ) async throws(BluetoothError) {
        await beginAnswer()
        defer { endAnswer() }
        let operation = "notify \(central)"
        guard let path = serving?.centrals.first(where: { $0.value.id == central })?.key,
            let object = serving?.application.path(of: characteristic)
        else { throw .disconnected }
        while true {
            guard let state = serving?.centrals[path], state.id == central else { throw .disconnected }
            guard state.subscriptions.contains(characteristic) else {
                throw .failed(
                    operation: operation, reason: "it has not subscribed, and bluetoothd only sends to subscribers")
            }
            guard value.count <= state.mtu - 3 else { throw .tooLong }
            let others =
                serving?.centrals.filter { $0.key != path && $0.value.subscriptions.contains(characteristic) } ?? [:]
            guard let other = others.keys.first else { break }
            // Checked each time: a central that only listened may have sent a request by now.
            guard await sparing().isDisjoint(with: others.values.map(\.id)) else {
                throw .failed(
                    operation: operation, reason: "another central is subscribed and waits for its own answer")
            }
            await hangUp(other)
            if serving?.centrals[other] != nil {
                throw .failed(operation: operation, reason: "another central is subscribed and cannot be disconnected")
            }
        }
        bus?.emitPropertiesChanged(path: object, interface: BlueZName.gattCharacteristic, [("Value", .bytes(value))])
        await roundTrip()
    }

    /// Lets one value be sent at a time: sending another might disconnect the central that is being answered.
    private func beginAnswer() async {
        guard serving?.isAnswering == true else {
            serving?.isAnswering = true
            return
        }
        await withCheckedContinuation { serving?.waitingToAnswer.append($0) }
    }

    private func endAnswer() {
        if serving?.waitingToAnswer.isEmpty == false {
            serving?.waitingToAnswer.removeFirst().resume()
        } else {
            serving?.isAnswering = false
        }
    }
}
