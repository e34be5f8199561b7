/// This program's part in pairing: an agent of bluetoothd.
///
/// It is an agent without display and keyboard (`org.bluez.Agent1`, `NoInputNoOutput`). A bond belongs to bluetoothd:
/// it is valid for all profiles of the device, and a bonded keyboard can type on this board. So devices can pair only
/// for the short time that a person has requested, input devices never can, and only the bond of a device that a
/// person admitted is kept.
extension BlueZ {
    static let agentPath = "/latchkey/agent"

    /// Lets devices that use the protected service pair for the given time.
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

    /// Ends the time for pairing. The bond of a device that has paired without requesting anything is removed.
    func closePairing() async {
        pairing = nil
        await endPairing()
        for device in newBonds where serving?.centrals[device] == nil && links[device] == nil {
            await forgetBond(device)
        }
    }

    /// Becomes bluetoothd's default agent as long as pairing may be needed. Afterwards another program's agent is the
    /// default again.
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
    /// - Returns: why it is refused; `nil` if it is not
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
            return BusFailure(name: "org.bluez.Error.Rejected", text: "no user here has requested it")
        // Numbers cannot be compared here, and this program only decides about the service that it serves.
        default: return BusFailure(name: "org.bluez.Error.Rejected", text: "there is no user to ask")
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

    /// Handles a change of bluetoothd's objects for the bonds that are not to be kept.
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

    /// Makes bluetoothd hang up and forget the device, including its bond.
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
