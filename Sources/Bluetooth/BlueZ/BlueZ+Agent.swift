/// Pairing, as far as bluetoothd asks this program.
///
/// An agent that can neither show nor read anything (`org.bluez.Agent1`, `NoInputNoOutput`). A bond is bluetoothd's: it holds for
/// all profiles of the device, and a bonded device that is a keyboard types on this board. So devices pair only for the short
/// while that a person has asked for, never input devices, and a bond is kept only of a device that a person let in.
extension BlueZ {
    static let agentPath = "/latchkey/agent"

    /// Lets devices that use the protected service pair, for a while.
    func openPairing(for duration: Duration) async throws(BluetoothError) {
        try await open()
        let number = nextNumber()
        pairing = number
        await beginPairing()
        after(duration) { bluez in
            guard bluez.pairing == number else { return }
            Task { await bluez.closePairing() }
        }
    }

    /// Nobody pairs any more. Whoever has paired and not even asked to be let in is forgotten.
    func closePairing() async {
        pairing = nil
        await endPairing()
        for device in newBonds where serving?.centrals[device] == nil && links[device] == nil {
            await forgetBond(device)
        }
    }

    /// Becomes bluetoothd's default agent, for as long as there is something to pair for. Another program's is the default again
    /// afterwards.
    func beginPairing() async {
        guard !isAgent, owner != nil else { return }
        isAgent = true
        let path = BusArgument.path(Self.agentPath)
        _ = await call(
            BusCall(
                path: BlueZName.root, interface: BlueZName.agentManager, member: "RegisterAgent",
                arguments: [path, .text("NoInputNoOutput")]))
        _ = await call(
            BusCall(
                path: BlueZName.root, interface: BlueZName.agentManager, member: "RequestDefaultAgent",
                arguments: [path]))
    }

    func endPairing() async {
        guard isAgent, links.isEmpty, pairing == nil else { return }
        isAgent = false
        _ = await call(
            BusCall(
                path: BlueZName.root, interface: BlueZName.agentManager, member: "UnregisterAgent",
                arguments: [.path(Self.agentPath)], timeout: .seconds(5)))
    }

    /// Answers a call to the agent.
    ///
    /// - Returns: why it is refused
    func decide(_ member: String, _ arguments: [BusValue]) -> BusFailure? {
        switch member {
        case "Release":
            isAgent = false
            return nil
        case "Cancel": return nil
        case "RequestAuthorization":
            if let device = arguments.first?.text, mayPair(device) {
                newBonds.insert(device)
                return nil
            }
            return BusFailure(name: "org.bluez.Error.Rejected", text: "nobody here has asked for it")
        // Numbers cannot be compared here, and services other than the one served are not this program's.
        default: return BusFailure(name: "org.bluez.Error.Rejected", text: "nobody is there to be asked")
        }
    }

    private func mayPair(_ device: String) -> Bool {
        guard !objects.offersInput(device) else { return false }
        if links[device] != nil { return true }
        guard pairing != nil, let serving, serving.application.needsEncryption, let adapter = serving.adapter else {
            return false
        }
        return device.hasPrefix(adapter + "/")
    }

    // MARK: Bonds

    /// A person has let the device in: its bond stays.
    func keep(_ central: CentralID) {
        guard let device = serving?.centrals.first(where: { $0.value.id == central })?.key else { return }
        if newBonds.remove(device) != nil { keptBonds.insert(device) }
    }

    /// What a change of bluetoothd's objects means for the bonds that are not to be kept.
    func bond(_ change: BlueZObjects.Change) {
        switch change {
        case .removed(let device, BlueZName.device):
            newBonds.remove(device)
            keptBonds.remove(device)
        case .changed(let device, BlueZName.device, let keys)
        where newBonds.contains(device) || keptBonds.contains(device):
            let hasLeft = keys.contains("Connected") && !objects.isConnected(device)
            // What it is may only be known after it has paired, or was let in.
            if objects.offersInput(device), keptBonds.remove(device) != nil { newBonds.insert(device) }
            if newBonds.contains(device), hasLeft || objects.offersInput(device) { Task { await forgetBond(device) } }
        default: break
        }
    }

    func forgetBonds() async {
        for device in newBonds { await forgetBond(device) }
    }

    /// Has bluetoothd hang up and forget the device, its bond included.
    func forgetBond(_ device: String) async {
        guard newBonds.remove(device) != nil, let adapter = objects[device, BlueZName.device]?["Adapter"]?.text else {
            return
        }
        await remove(device, of: adapter)
    }

    func remove(_ device: String, of adapter: String) async {
        _ = await call(
            BusCall(
                path: adapter, interface: BlueZName.adapter, member: "RemoveDevice", arguments: [.path(device)],
                timeout: .seconds(10)))
    }
}
