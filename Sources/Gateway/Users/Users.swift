import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import OAuth

/// Login and logout of users on this board (MAG 4.3, 5.1, 5.7 to 5.9).
struct Users: Sendable {
    let store: HoldingsStore
    let exchange: GatewayExchange
    let preparation: Preparation

    private var tokens: Tokens { preparation.tokens }

    // MARK: Login

    /// Logs a person in, replacing the current user. An unregistered board is registered with the same credentials,
    /// even after a removal.
    ///
    /// - Throws: ``RefusedAttempt`` after it has recovered from a refusal.
    func logIn(by logIn: Login, in operation: borrowing Operation) async throws {
        try await store.requireUnlocked()
        try await preparation.recoveringFromRefusal(in: operation) {
            var last: ChainStep?
            while let step = try await preparation.nextStep(for: .logIn, after: last).due() {
                switch step {
                case .registration:
                    if try await register(by: logIn, in: operation) { return try await useSession(in: operation) }
                    if logIn.isUsedUpByRegistration { throw GatewayError.codeUsedForRegistration }
                case .accessToken: try await obtainToken(by: logIn, in: operation)
                case .clientCredentials, .certificate:
                    try await preparation.take(step, for: .logIn, in: operation)
                }
                last = step
            }
        }
    }

    /// - Returns: whether this has also logged the person in.
    private func register(by logIn: Login, in operation: borrowing Operation) async throws -> Bool {
        let voucher = try logIn.voucher(
            singleSignOn: store.configuration.singleSignOn, redirectURI: store.configuration.redirectURI)
        try await preparation.registration.register(by: voucher, userName: logIn.userName, in: operation)
        return voucher.createsSession
    }

    /// Obtains the first access token of a user whom the registration has logged in. The login does not fail without
    /// it: the code or the password is used up, and the next call tries again.
    private func useSession(in operation: borrowing Operation) async throws {
        do {
            try await tokens.obtainOfUser(GatewayGrants(configuration: store.configuration), in: operation)
        } catch let error as GatewayError {
            guard try await store.holdings().user != nil else { throw error }
        }
    }

    private func obtainToken(by logIn: Login, in operation: borrowing Operation) async throws {
        do {
            try await tokens.tryGrants(
                [GatewayGrants(configuration: store.configuration).of(logIn)], as: .user,
                loggingIn: HeldUser(name: logIn.userName, loggedInAt: store.clocks.date()), in: operation)
        } catch let error as GatewayError {
            throw try await tokens.withActivation(error)
        }
    }

    /// Keeps what the gateway says about the user, unless another user has logged in since.
    func keep(_ profile: UserProfile, userLoggedInAt date: Date, in operation: borrowing Operation) async throws {
        let user = try await store.holdings().user
        guard user?.loggedInAt == date else { return }
        killPoint("profile-answered")
        try await store.update(in: operation) {
            $0.updateUser { user in
                if let name = profile.userName { user.name = name }
                user.profile = profile
            }
        }
        killPoint("profile-committed")
    }

    // MARK: Logout

    /// Ends the login at the gateway by E10, or by E9 without an id_token, then here (MAG 12.4, logout).
    ///
    /// - Parameters:
    ///   - force: ends it here even if the gateway does not; the gateway's error is still thrown.
    ///   - allPrograms: whether the session of every program of this device ends, or only that of this client.
    func logOut(force: Bool, allPrograms: Bool, in operation: borrowing Operation) async throws {
        let held = try await store.holdings()
        try held.requireUnlocked()
        guard let user = held.user else { throw GatewayError.userRequired }
        store.events.send(.userWillLogout(userName: user.name))
        do {
            try await endAtGateway(user.tokens, allPrograms, in: operation)
        } catch let error as GatewayError {
            if force { try await store.update(in: operation) { $0.user = nil } }
            store.events.send(.userDidFailToLogout(error))
            throw error
        }
        try await store.update(in: operation) { $0.user = nil }
    }

    private func endAtGateway(
        _ held: HeldTokens, _ allPrograms: Bool, in operation: borrowing Operation
    ) async throws {
        // Without either token there is nothing that the gateway could end.
        guard held.id != nil || held.refresh != nil else { return }
        try await preparation.initialization.initializeWhenDue(in: operation)
        guard let client = try await store.holdings().client else { throw GatewayError.noGrantApplies }
        if let idToken = held.id {
            try await endSession(of: idToken, by: client, allPrograms)
        } else if let refreshToken = held.refresh {
            try await tokens.revoke(refreshToken, by: client)
        }
    }

    private func endSession(
        of idToken: HeldIDToken, by client: ClientCredentials, _ allPrograms: Bool
    ) async throws {
        let form = FormBody([("id_token_type", idToken.type), ("logout_apps", allPrograms ? "true" : "false")])
        let request = try await exchange.request(
            "POST", at: store.configuration.path(of: .logout),
            headers: [
                "Content-Type": FormBody.contentType, "Accept": "application/json",
                "Authorization": client.authentication.basic,
            ], body: form.bytes(with: [("id_token", idToken.value)]))
        let response = try await exchange.succeed(request, for: .logOut)
        // Gateways differ in the body. But accepting another server's page as the gateway's answer would leave the
        // session open at the gateway.
        guard response.headers.first("Content-Type")?.lowercased().hasPrefix("text/html") != true else {
            throw GatewayError.unexpectedAnswer(.logOut, status: 200, reason: "it is a page")
        }
    }
}
