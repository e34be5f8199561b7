import Groundwork

extension GatewaySession {
    /// Has a board that is not registered wait for whoever logs in on it, or registers it by ``register()``: it does not
    /// register by itself. A registered one stays as it is.
    ///
    /// - Throws: what the vault throws.
    public func waitForPerson() async throws {
        try await operations.join(.register) {
            var next = try await self.holdings()
            guard next.device == nil, next.rest == nil else { return }
            next.rest = .byPerson
            try await self.commit(next)
        }
    }
}
