import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth

/// People who log in on this board (MAG 4.3, 5.1, 5.7).
extension GatewaySession {
    /// Who is logged in; `nil` when nobody is.
    /// - Throws: what the vault throws.
    public func user() async throws -> UserStatus? { try await holdings().user.map(status) }

    /// Who is logged in, if it is whoever logged in at that moment: nobody who logged in later has agreed to anything before.
    ///
    /// - Throws: ``GatewayError/userRequired``, what the vault throws.
    public func user(loggedInAt date: Date) async throws -> UserStatus {
        status(try await requireUser(loggedInAt: date))
    }

    /// - Parameter date: of the log-in that is meant; `nil` for whoever is logged in.
    /// - Throws: ``GatewayError/userRequired``
    @discardableResult
    func requireUser(loggedInAt date: Date? = nil) async throws -> HeldUser {
        guard let user = try await holdings().user, date.map(user.isLogIn) ?? true else {
            throw GatewayError.userRequired
        }
        return user
    }

    /// Logs a person in by user name and password, in the place of whoever is logged in. A board that is not registered is
    /// registered by the same credentials, also after a removal.
    ///
    /// - Throws: ``GatewayError``; then whoever was logged in still is. ``GatewayError/awaitingActivation(magIdentifier:)``
    ///   tells that the person is logged in on a device that an administrator has yet to activate.
    @discardableResult
    public func logIn(userName: String, password: SecretBytes) async throws -> UserStatus {
        try await logIn(by: .password(try UserCredentials(name: userName, password: password)))
    }

    /// Logs in whoever authorized the session, as ``logIn(userName:password:)`` does.
    ///
    /// - Throws: also ``GatewayError/authorizationStateMismatch`` and ``GatewayError/authorizationEnded``, before anything is sent
    ///   (MAG checklist 33).
    @discardableResult
    public func logIn(with code: AuthorizationCode, of session: AuthorizationSession) async throws -> UserStatus {
        guard code.isFor(session.proof) else { throw GatewayError.authorizationStateMismatch }
        try await checkClient(of: session)
        return try await logIn(by: .code(code.value, session))
    }

    private func logIn(by logIn: LogIn) async throws -> UserStatus {
        events.send(.userWillAuthenticate(grant: logIn.name))
        do {
            try await admit(by: logIn)
        } catch let error as GatewayError {
            if case .awaitingActivation = error, let user = try await user() {
                events.send(.userDidAuthenticate(userName: user.userName))
            } else {
                events.send(.userDidFailToAuthenticate(error))
            }
            throw error
        }
        await nameUser()
        guard let user = try await user() else { throw GatewayError.userRequired }
        events.send(.userDidAuthenticate(userName: user.userName))
        return user
    }

    private func admit(by logIn: LogIn) async throws {
        let attempts = Attempts(limit: Recovery.attempts)
        var last: Refusal?
        while attempts.take() {
            do {
                return try await operations.join(.logIn(nextLogIn())) {
                    try await self.recovering { try await self.walk(logIn) }
                }
            } catch let restart as ChainRestart {
                last = restart.refusal
            }
        }
        throw last.map { GatewayError.refused($0) } ?? .userRequired
    }

    /// Inside an operation.
    private func walk(_ logIn: LogIn) async throws {
        try await initializeClientWhenDue()
        if try await holdings().device == nil {
            let voucher = logIn.voucher(
                singleSignOn: configuration.singleSignOn, redirectURI: configuration.redirectURI)
            try await registerDevice(by: voucher, userName: logIn.userName)
            if voucher.createsSession { return try await useSession() }
        }
        if try await isRenewalDue(holdings()) { try await renewWhenDue() }
        do {
            try await tryGrants(
                [GatewayGrants(configuration: configuration).of(logIn)], as: .user,
                loggingIn: HeldUser(name: logIn.userName, loggedInAt: clock()))
        } catch let error as GatewayError {
            throw try await withActivation(error)
        }
    }

    /// The registration has logged the user in. The first access token proves that, but a log-in does not fail for the want of
    /// it: the code or the password is spent, and the next call tries again.
    private func useSession() async throws {
        do {
            try await obtainUserToken(nil)
        } catch let error as GatewayError {
            guard try await holdings().user != nil else { throw error }
        }
    }

    /// Inside an operation: an access token of whoever is logged in. When nothing is left to get one by, nobody is.
    func obtainUserToken(_ additionalScope: String?) async throws {
        let tokens = try await requireUser().tokens
        let grants = GatewayGrants(configuration: configuration, additionalScope: additionalScope)
        do {
            try await tryGrants(grants.ofUser(tokens, at: clock()), as: .user)
        } catch GatewayError.noGrantApplies {
            var next = try await holdings()
            // A refresh token that was not asked, as it cannot widen the scope, is still good.
            if next.user?.tokens.refresh == nil {
                next.user = nil
                try await commit(next)
            }
            throw GatewayError.userRequired
        }
    }

    // MARK: Who it is

    /// What the gateway tells of the user, E12.
    ///
    /// - Parameter date: of the log-in that is meant; `nil` for whoever is logged in.
    /// - Throws: ``GatewayError``; ``GatewayError/userRequired`` when nobody is logged in, or somebody else by now.
    public func userInfo(loggedInAt date: Date? = nil) async throws -> JSON {
        let address = configuration.endpoints[.userInfo] ?? GatewayEndpoint.userInfo.defaultPath
        let response = try await call(
            method: "GET", path: address, headers: ["Accept": "application/json"], as: .user, loggedInAt: date)
        guard response.isSuccess else { throw GatewayError.failure(response, .readUserInfo) }
        do {
            return try JSONAnswer(response.body).json
        } catch {
            throw GatewayError.unexpectedAnswer(.readUserInfo, status: response.status, reason: error.reason)
        }
    }

    /// Asks the gateway for the user's name. Without an answer the log-in stands, under the name that was typed (MAG quirk Q26).
    private func nameUser() async {
        guard let user = try? await holdings().user, let info = try? await userInfo(loggedInAt: user.loggedInAt),
            let name = info["preferred_username"]?.string, HeldUser.isName(name)
        else { return }
        try? await operations.join(.name(nextLogIn())) {
            var next = try await self.holdings()
            guard next.user?.loggedInAt == user.loggedInAt, next.user?.name != name else { return }
            next.user?.name = name
            try await self.commit(next)
        }
    }
}
