import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth

/// Login and logout of users on this board (MAG 4.3, 5.1, 5.7).
extension GatewaySession {
    /// The logged-in user, if any.
    /// - Throws: what the vault throws.
    public func user() async throws -> UserStatus? { try await store.holdings().user.map(status) }

    /// The user who logged in at `date`, if still logged in: a user who logged in later has not agreed to anything
    /// before.
    ///
    /// - Throws: ``GatewayError/userRequired``, what the vault throws.
    public func user(loggedInAt date: Date) async throws -> UserStatus {
        status(try await calls.user(loggedInAt: date))
    }

    // MARK: Login

    /// Logs a person in by user name and password, replacing the current user. An unregistered board is registered with
    /// the same credentials, even after a removal.
    ///
    /// - Throws: ``GatewayError``; then the previous user stays logged in.
    ///   ``GatewayError/awaitingActivation(magIdentifier:)`` means that the person is logged in on a device that an
    ///   administrator has not activated yet.
    @discardableResult
    public func logIn(userName: String, password: SecretBytes) async throws -> UserStatus {
        try await logIn(by: .password(try UserCredentials(name: userName, password: password)))
    }

    /// Logs in the user who authorized the session, as ``logIn(userName:password:)`` does.
    ///
    /// - Throws: ``GatewayError/authorizationStateMismatch`` and ``GatewayError/authorizationEnded`` before it sends
    ///   anything (MAG checklist 33); those of ``logIn(userName:password:)``.
    @discardableResult
    public func logIn(with code: AuthorizationCode, of session: AuthorizationSession) async throws -> UserStatus {
        guard code.isFor(session.proof) else { throw GatewayError.authorizationStateMismatch }
        try await authorizations.checkClient(of: session)
        return try await logIn(by: .code(code.value, session))
    }

    private func logIn(by logIn: LogIn) async throws -> UserStatus {
        events.send(.userWillAuthenticate(grant: logIn.name))
        do {
            try await operations.recovering(as: .user) {
                try await self.operations.run(.logIn(self.operations.nextNumber())) { parts, operation in
                    try await parts.users.logIn(by: logIn, in: operation)
                }
            }
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

    /// Asks the gateway for the user's name. Without an answer the login stays valid, under the entered name (MAG quirk
    /// Q26).
    private func nameUser() async {
        guard let user = try? await store.holdings().user,
            let info = try? await userInfo(loggedInAt: user.loggedInAt),
            let name = info["preferred_username"]?.string, HeldUser.isName(name)
        else { return }
        try? await operations.run(.name(operations.nextNumber())) { parts, operation in
            try await parts.users.name(name, userLoggedInAt: user.loggedInAt, in: operation)
        }
    }

    /// The gateway's information about the user, from endpoint E12.
    ///
    /// - Parameter date: when the user logged in; `nil` for the current user.
    /// - Throws: ``GatewayError``; ``GatewayError/userRequired`` when no user or another user is logged in.
    public func userInfo(loggedInAt date: Date? = nil) async throws -> JSON {
        let response = try await call(
            method: "GET", path: configuration.path(of: .userInfo), headers: ["Accept": "application/json"], as: .user,
            loggedInAt: date)
        guard response.isSuccess else { throw GatewayError.failure(response, .readUserInfo) }
        do {
            return try JSONAnswer(response.body).json
        } catch {
            throw GatewayError.unexpectedAnswer(.readUserInfo, status: response.status, reason: error.reason)
        }
    }

    // MARK: Logout

    /// Ends the login at the gateway, then here (MAG 12.4, logout). Registration, client credentials and the board's
    /// own tokens stay.
    ///
    /// - Parameter force: ends it here even if the gateway does not; the gateway's error is still thrown.
    /// - Throws: ``GatewayError``; ``GatewayError/userRequired`` when no user is logged in.
    public func logOut(force: Bool = false) async throws {
        try await operations.run(.logOut(force: force)) { try await $0.users.logOut(force: force, in: $1) }
    }

    // MARK: Login with another device

    /// A new authorization session, from endpoint E3: until it expires, the user who authorizes it logs in on this
    /// board.
    ///
    /// A board that waits for a person may begin one too: the person is present.
    ///
    /// - Throws: ``GatewayError``, what the vault throws, or `CancellationError`.
    public func authorizationSession() async throws -> AuthorizationSession { try await authorizations.begin() }

    /// Asks once whether another device has authorized the session.
    ///
    /// - Throws: ``GatewayError``: ``GatewayError/proximityNotOffered``, ``GatewayError/authorizationEnded``,
    ///   ``GatewayError/authorizationStateMismatch``, and the gateway's refusal when the session is over.
    public func poll(_ session: AuthorizationSession) async throws -> PollAnswer {
        try await authorizations.poll(session)
    }

    /// Checks that a text is a URL of this gateway. Sends no request.
    ///
    /// - Parameter text: a URL, or JSON with a `provider_url`.
    /// - Throws: ``GatewayError/providerURLInvalid(reason:)``, ``GatewayError/providerURLForeign(gateway:)``
    public func checkOrigin(of text: String) throws(GatewayError) {
        _ = try ProviderURL(text, at: configuration.identity)
    }

    /// The identifier of the authorization session that ``authorize(providerURL:loggedInAt:)`` would authorize, the
    /// same for every spelling of its URL. Refuses a URL that does not have the form of those that this gateway gives
    /// to this board.
    ///
    /// - Throws: the errors of ``checkOrigin(of:)`` and ``authorizationSession()``;
    ///   ``GatewayError/proximityNotOffered``
    public func sessionIdentifier(in text: String) async throws -> String {
        try await authorizations.approved(text).session
    }

    /// Lets another device log in as the user of this one, after the user has agreed (MAG 7.3). It must be one of this
    /// gateway's authorization URLs, and only a user's token is ever used for it (MAG checklist 36).
    ///
    /// - Parameters:
    ///   - providerURL: from the other device: a URL, or JSON with a `provider_url`.
    ///   - date: when the user who has agreed logged in; `nil` for the current user.
    /// - Throws: ``GatewayError``; ``GatewayError/userRequired`` when no user or another user is logged in.
    public func authorize(providerURL: String, loggedInAt date: Date? = nil) async throws {
        try await authorizations.authorize(providerURL: providerURL, loggedInAt: date)
    }
}
