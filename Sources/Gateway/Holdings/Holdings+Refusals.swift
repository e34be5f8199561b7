import OAuth

/// What to drop after a refusal, and how to recover (MAG 6.4, 12.4). Pure.
///
/// The configuration and other gateways' data are never dropped.
extension Holdings {
    /// What can be done after a refusal.
    enum AfterRefusal: Equatable {
        /// Fail with the refusal.
        case fail
        /// Repeat the work: the refused data is already dropped, so the board registers again.
        case repeatWork
        case recover(Recovery)
    }

    func next(after refusal: Refusal) -> AfterRefusal {
        if refusal.operation == .renewCertificate { return rest == nil ? .repeatWork : .fail }
        switch Recovery.from(refusal, isStaticClient: client?.isStatic ?? false) {
        // Without a certificate there is nothing to renew.
        case .renewCertificate where device == nil: return .fail
        case let recovery?: return .recover(recovery)
        case nil: return .fail
        }
    }

    /// Drops the data that a recovery replaces. A renewal keeps everything until it has the new certificate.
    mutating func apply(_ recovery: Recovery, as principal: Principal) {
        switch recovery {
        case .dropAccessToken:
            self[principal].access = nil
            endUserWithoutTokens()
        case .reinitializeClient: clearClient()
        case .renewCertificate: break
        }
    }

    /// Drops the data that is useless after a refused grant.
    ///
    /// - Parameter spendsRefreshToken: whether the grant used the refresh token up; the access token is dropped with
    ///   it.
    mutating func apply(_ consequence: GrantConsequence, spendsRefreshToken: Bool, of principal: Principal) {
        if spendsRefreshToken {
            self[principal].refresh = nil
            self[principal].access = nil
        }
        if consequence.dropsIDToken { self[principal].id = nil }
        endUserWithoutTokens()
    }

    /// After a refusal of the client (…201): drops its tokens too. A user stays logged in only with an id_token.
    mutating func clearClient() {
        for principal in Principal.allCases {
            self[principal].access = nil
            self[principal].refresh = nil
        }
        client = nil
        endUserWithoutTokens()
    }

    /// Logs out a user without any tokens left.
    private mutating func endUserWithoutTokens() {
        if let user, user.tokens.isEmpty { self.user = nil }
    }

    /// Replaces the client if the master client id in the configuration has changed; registration and id_token stay.
    /// A registered board waits for no one.
    mutating func adopt(_ configuration: GatewayConfiguration) {
        if device != nil { rest = nil }
        guard let held = client else {
            client = configuration.staticCredentials
            return
        }
        let isSame =
            held.masterID == configuration.masterClientID
            && (held.isStatic ? held == configuration.staticCredentials : configuration.staticCredentials == nil)
        guard !isSame else { return }
        clearClient()
        client = configuration.staticCredentials
    }

    /// Drops everything: after a removal at the gateway, a reset by a person, or a refused renewal.
    ///
    /// - Parameter rest: why the board does not register by itself afterwards; `nil` if it may.
    mutating func clearAll(rest: RegistrationRest?, _ configuration: GatewayConfiguration) {
        self = Holdings(rest: rest)
        adopt(configuration)
    }

    /// The row "renew failed" of MAG 12.4. The board registers again, unless the gateway no longer knows the device:
    /// the administrator who removed it does not want it to come back by itself (MAG checklist 26).
    mutating func endRegistration(after refusal: Refusal, _ configuration: GatewayConfiguration) {
        let isRemoved = refusal.meaning == .deviceUnknown
        clearAll(rest: isRemoved ? .withdrawn(code: refusal.code) : nil, configuration)
    }
}
