/// Pairing, as far as bluetoothd asks this program.
///
/// An agent that can neither show nor read anything (`org.bluez.Agent1`, `NoInputNoOutput`). It lets pair who uses the protected
/// service, or the peripheral that this program has connected to. A person's consent is asked for elsewhere.
extension BlueZ {
    static let agentPath = "/latchkey/agent"

    /// Becomes bluetoothd's default agent, for as long as there is something to pair for. Another program's is the default again
    /// afterwards.
    func beginPairing() async {
        guard !isAgent, owner != nil else { return }
        isAgent = true
        let path = BusArgument.path(Self.agentPath)
        _ = await call(BusCall(path: BlueZName.root, interface: BlueZName.agentManager, member: "RegisterAgent",
            arguments: [path, .text("NoInputNoOutput")]))
        _ = await call(BusCall(path: BlueZName.root, interface: BlueZName.agentManager, member: "RequestDefaultAgent",
            arguments: [path]))
    }

    func endPairing() async {
        guard isAgent, links.isEmpty, serving?.application.needsEncryption != true else { return }
        isAgent = false
        _ = await call(BusCall(path: BlueZName.root, interface: BlueZName.agentManager, member: "UnregisterAgent",
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
            if let device = arguments.first?.text, mayPair(device) { return nil }
            return BusFailure(name: "org.bluez.Error.Rejected", text: "it has nothing to do with this program")
        // Numbers cannot be compared here, and services other than the one served are not this program's.
        default: return BusFailure(name: "org.bluez.Error.Rejected", text: "nobody is there to be asked")
        }
    }

    private func mayPair(_ device: String) -> Bool {
        if links[device] != nil { return true }
        guard let serving, serving.application.needsEncryption, let adapter = serving.adapter else { return false }
        return device.hasPrefix(adapter + "/")
    }
}
