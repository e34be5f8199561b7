import Dispatch

/// Access to a protected service: only for centrals on a link encrypted with a bonded key of LE Secure Connections.
extension KernelPeripheral {
    /// How long a central is not answered while the key is unknown: a link is encrypted some packets before the
    /// kernel reports the key.
    static var keyPatience: Duration { .seconds(10) }

    /// Determines the security of a central's link.
    ///
    /// - Returns: `false` if it is not known yet: nothing is received until it is
    func settleSecurity(of central: Central) -> Bool {
        guard needsEncryption, let adapter else { return true }
        let standing = bonds.standing(of: central.address, on: adapter.information.identity)
        switch (central.channel.isEncrypted, standing) {
        case (true, .bonded): central.server.security = .encrypted
        case (false, .bonded): central.server.security = .bonded
        case (true, .unknown) where !central.isKeyOverdue:
            central.server.security = .open
            central.channel.pause()
            awaitKey(of: central.id)
            return false
        default: central.server.security = .open
        }
        return true
    }

    private func awaitKey(of id: CentralID) {
        queue.queue.asyncAfter(deadline: .now() + Self.keyPatience.dispatched) { [weak self] in
            self?.assumeIsolated { this in
                guard let central = this.centrals[id] else { return }
                central.isKeyOverdue = true
                central.channel.resume()
            }
        }
    }

    /// Handles an event of a pairing.
    func notePairing(_ event: ManagementMessage.Event) {
        guard needsEncryption, let adapter else { return }
        switch event {
        case .confirmation(let peer): Task { _ = try? await socket.send(.confirm(adapter.index, peer)) }
        case .identity(let peer, let former):
            for central in centrals.values where central.address == former { central.address = peer }
        case .longTermKey(let peer, let key):
            Task {
                await socket.keep(key, of: peer, on: adapter, in: bonds)
                for central in centrals.values where central.address == peer { central.channel.resume() }
            }
        case .answer, .adapterAdded, .adapterRemoved, .settings, .connected, .disconnected, .found, .discovering,
            .advertisingRemoved, .pairingFailed, .other:
            break
        }
    }
}
