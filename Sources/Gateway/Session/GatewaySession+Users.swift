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

    /// Logs in the user who authorized a program of this machine, by the code that it got, as
    /// ``logIn(userName:password:)`` does (MAG 5.6). No state is compared: the program that asked for the code has.
    ///
    /// - Throws: ``GatewayError/codeUsedForRegistration``; those of ``logIn(userName:password:)``.
    @discardableResult
    public func logIn(with code: HandedCode) async throws -> UserStatus { try await logIn(by: .handedCode(code)) }

    /// Logs in the user of a JWT from outside, as ``logIn(userName:password:)`` does (MAG 4.3, 5.1).
    @discardableResult
    public func logIn(with assertion: UserAssertion) async throws -> UserStatus {
        try await logIn(by: .assertion(assertion))
    }

    private func logIn(by logIn: Login) async throws -> UserStatus {
        try await requireUnlocked()
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
        // Without an answer the login stays valid, under the entered name (MAG quirk Q26).
        if let user = try await store.holdings().user { _ = try? await userInfo(loggedInAt: user.loggedInAt) }
        guard let user = try await user() else { throw GatewayError.userRequired }
        events.send(.userDidAuthenticate(userName: user.userName))
        return user
    }

    /// Asks the gateway for its information about the user, endpoint E12, and keeps it, with the user's name.
    ///
    /// - Parameter date: when the user logged in; `nil` for the current user.
    /// - Throws: ``GatewayError``; ``GatewayError/userRequired`` when no user or another user is logged in.
    public func userInfo(loggedInAt date: Date? = nil) async throws -> JSON {
        try await demandingUser(for: Need(principal: .user), loggedInAt: date) {
            let logIn = try await calls.user(loggedInAt: date).loggedInAt
            events.send(.userWillUpdateInformation)
            do {
                let info = try await readUserInfo(loggedInAt: logIn)
                try await keep(info, loggedInAt: logIn)
                events.send(.userDidUpdateInformation)
                return info
            } catch let error as GatewayError {
                events.send(.userDidFailToUpdateInformation(error))
                throw error
            }
        }
    }

    private func keep(_ info: JSON, loggedInAt date: Date) async throws {
        guard let profile = UserProfile(info, updatedAt: store.clocks.date()) else { return }
        try await operations.run(.name(operations.nextNumber())) { parts, operation in
            try await parts.users.keep(profile, userLoggedInAt: date, in: operation)
        }
    }

    /// What ``userInfo(loggedInAt:)`` last got of the user who is logged in; `nil` if nothing.
    ///
    /// - Throws: ``GatewayError/userRequired``, what the vault throws
    public func userProfile() async throws -> UserProfile? { try await calls.user(loggedInAt: nil).profile }

    private func readUserInfo(loggedInAt date: Date) async throws -> JSON {
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

    /// Asks the gateway whether the user's session lasts there, at endpoint E11 (MAG 5.9). Nothing is dropped here
    /// whatever it says: the next call finds out which tokens work.
    ///
    /// - Returns: the gateway's word, such as `active` or `none`; also `none`, without a request, for a login without a
    ///   session.
    /// - Throws: ``GatewayError``; ``GatewayError/userRequired`` when no user is logged in.
    public func sessionStatus() async throws -> String {
        let user = try await calls.user(loggedInAt: nil)
        guard let idToken = user.tokens.id else { return "none" }
        var query = FormBody([("id_token_type", idToken.type)])
        query.add("id_token", idToken.value.exposedText())
        let response = try await call(
            method: "GET", path: configuration.path(of: .sessionStatus) + "?" + query.text,
            headers: ["Accept": "application/json"], as: .user, loggedInAt: user.loggedInAt)
        guard response.isSuccess else { throw GatewayError.failure(response, .readSessionStatus) }
        do throws(AnswerFault) {
            let answer = try JSONAnswer(response.body)
            guard let word = answer["session"]?.string ?? answer["session_status"]?.string else {
                throw AnswerFault("it has neither session nor session_status")
            }
            return DisplayText.clean(word)
        } catch {
            throw GatewayError.unexpectedAnswer(.readSessionStatus, status: response.status, reason: error.reason)
        }
    }

    // MARK: Logout

    /// Ends the login at the gateway, then here (MAG 12.4, logout). Registration, client credentials and the board's
    /// own tokens stay.
    ///
    /// - Parameters:
    ///   - force: ends it here even if the gateway does not; the gateway's error is still thrown.
    ///   - allPrograms: whether the session of every program of this device ends, or only that of this client; `nil`
    ///     for all of them exactly while single sign-on is on.
    /// - Throws: ``GatewayError``; ``GatewayError/userRequired`` when no user is logged in.
    public func logOut(force: Bool = false, allPrograms: Bool? = nil) async throws {
        let allPrograms = allPrograms ?? configuration.singleSignOn
        try await operations.run(.logOut(force: force, allPrograms: allPrograms)) {
            try await $0.users.logOut(force: force, allPrograms: allPrograms, in: $1)
        }
    }
}
