/// Signed tokens, for callers that send them themselves.
extension GatewaySession {
    /// The token that a call would send in place of its body (MAG 6.7). It is sent nowhere.
    ///
    /// - Parameters:
    ///   - body: what is signed; `nil` for nothing but the claims.
    ///   - type: the media type of the body.
    ///   - named: whose name is the subject; `nil` for the user while one is logged in.
    /// - Throws: ``GatewayError``; ``GatewayError/notRegistered`` before the registration, what the vault throws
    public func signedToken(
        of body: [UInt8]?, type: String?, by signing: BodySigning, as named: Principal?
    ) async throws -> String {
        let content = try body.map { try SignedContent($0, type: type) }
        return try await acting(as: named) { principal in
            let held = try await store.holdings()
            if principal == .user {
                try held.requireUnlocked()
                guard held.user != nil else { throw GatewayError.userRequired }
            }
            return try await signing.token(
                of: content, by: held, as: principal, at: configuration.identity, now: store.clocks.date())
        }
    }
}
