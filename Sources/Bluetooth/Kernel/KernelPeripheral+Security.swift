import Dispatch

/// Who may use a protected service: centrals on a link that is encrypted with a bonded key of LE Secure Connections.
extension KernelPeripheral {
    /// A link is encrypted some packets before the kernel tells of the key. So long a central is not answered.
    static var keyPatience: Duration { .seconds(10) }

    /// Learns what a central's link is worth.
    ///
    /// - Returns: `false` where that cannot be told yet: nothing is received until it can
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

    /// News of a pairing.
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
        default: break
        }
    }
}
