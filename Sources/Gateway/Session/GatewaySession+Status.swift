import Cryptography
import FoundationEssentials
import OAuth
import Vault

/// The status of a session.
extension GatewaySession {
    /// - Throws: what the vault throws.
    public func status() async throws -> GatewayStatus {
        let holdings = try await store.holdings()
        let entries = exchange.contacts.entries
        let now = store.clocks.date()
        return GatewayStatus(
            gateway: configuration.identity, masterClientID: configuration.masterClientID,
            registration: holdings.device.map { $0.isActive ? .registered : .pending } ?? .unregistered,
            deviceID: holdings.deviceID, magIdentifier: holdings.device?.magIdentifier,
            certificate: holdings.device.map { .init($0.leaf, at: now) },
            key: holdings.device?.key.keeper,
            client: holdings.client.map { client in
                .init(clientID: client.id, expiresAt: client.authentication.expires, isStatic: client.isStatic)
            },
            token: status(holdings.board), hasIDToken: holdings.board.id != nil,
            user: holdings.user.map(status), lastContact: entries.lastContact, lastFailure: entries.lastFailure)
    }

    /// Makes a signature with the device's key, and throws it away: whether the place still has it.
    ///
    /// - Throws: `CryptographyError`; ``GatewayError/notRegistered``, what the vault throws
    public func trySigning() async throws {
        let holdings = try await store.holdings()
        guard let key = holdings.device.flatMap({ holdings.keys[$0.key] }) else { throw GatewayError.notRegistered }
        guard let algorithm = JWS.algorithm(of: key) else { throw CryptographyError.algorithmRefused("JWS") }
        _ = try await key.signing { try JWS.sign([], algorithm: algorithm, key: .key(key)) }
    }

    private func status(_ tokens: HeldTokens) -> GatewayStatus.Token? {
        let now = store.clocks.now
        guard let token = tokens.access, token.isValid(at: now.uptime) else { return nil }
        return .init(
            receivedAt: token.receivedAt, expiresAt: token.token(at: now.date, uptime: now.uptime).expiresAt,
            scope: token.scope, hasRefreshToken: tokens.refresh != nil)
    }

    func status(_ user: HeldUser) -> UserStatus {
        UserStatus(
            userName: user.name, loggedInAt: user.loggedInAt, hasIDToken: user.tokens.id != nil,
            idTokenExpiresAt: user.tokens.id?.expires, token: status(user.tokens))
    }
}

extension GatewayStatus.Certificate {
    fileprivate init(_ certificate: Certificate, at now: Date) {
        self.init(
            notBefore: certificate.notBefore, notAfter: certificate.notAfter, serialNumber: certificate.serialNumber,
            daysLeft: Int((certificate.notAfter.timeIntervalSince(now) / 86_400).rounded(.down)))
    }
}
