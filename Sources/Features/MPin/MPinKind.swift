import AgentCore
import Cryptography
import FoundationEssentials
import Groundwork
import LocalAPI
import MPin
import Prompts
import Synchronization

/// Accounts at M-Pin back ends.
final class MPinKind: AccountKind {
    let name = MPinBackends.kind
    let backends: MPinBackends
    private let host: Host
    /// Who logged in last at each account, since the agent started: M-Pin knows sessions at applications, not here.
    private let loggedIn = Mutex<[AccountName: (user: String, at: Date)]>([:])

    init(_ host: Host) {
        self.host = host
        backends = MPinBackends(vault: host.vault, client: host.client) { [time = host.time] in time.now }
    }

    func names() async throws -> [AccountName] { try await backends.names().compactMap(AccountName.init) }

    /// - Throws: ``AccountError/unknown(_:)``, ``AccountError/otherKind(_:kind:)``
    func account(_ name: AccountName) async throws -> MPinAccount {
        guard let account = try await backends.account(name.text) else {
            throw try await host.accounts.fault(of: name, notOf: self.name)
        }
        return account
    }

    /// What is stored here; no back end is asked.
    func report(_ name: AccountName) async throws -> [String: JSON] {
        do {
            let account = try await account(name)
            return ["backend": account.configuration.json, "users": .array(try await account.users().map(\.json))]
        } catch let error as MPinError {
            return ["lastError": .object(error.explanation.members)]
        }
    }

    func reports() async throws -> [JSON] {
        var reports: [JSON] = []
        for name in try await names() { reports.append(try await host.accounts.report(name)) }
        return reports
    }

    func remove(_ name: AccountName, force: Bool, endGrants: @Sendable () async throws -> Void) async throws {
        try await endGrants()
        try await backends.remove(name.text)
        loggedIn.withLock { $0[name] = nil }
    }

    var users: (any AccountUsers)? { self }
}

extension MPinKind: AccountUsers {
    func user(at name: AccountName) async throws -> JSON {
        _ = try await account(name)
        guard let last = loggedIn.withLock({ $0[name] }) else { return ["loggedIn": false] }
        return [
            "loggedIn": true, "userName": .string(last.user), "loggedInAt": .string(last.at.formatted(.iso8601)),
        ]
    }

    func profile(at name: AccountName) async throws -> JSON { throw AccountError.otherKind(name, kind: self.name) }

    func question(
        for userName: String, at name: AccountName, answerers: PromptQuestion.Answerers
    ) async throws -> PromptQuestion {
        let user = MPinUserReference(account: try await account(name), name: name, id: userName)
        try await begin(user, MPinLoginRequest())
        return user.question("PIN of \(user.shown)", answerers)
    }

    func logIn(_ userName: String, _ secret: SecretBytes, scope: String?, at name: AccountName) async throws -> JSON {
        guard scope == nil else { throw AgentError.badRequest(member: "scope", fault: "does not belong to M-Pin") }
        let user = MPinUserReference(account: try await account(name), name: name, id: userName)
        let login = MPinLoginRequest()
        try await begin(user, login)
        _ = try await logIn(user, pin: secret, login)
        return try await self.user(at: name)
    }

    func faultOfSecret(_ error: any Error) -> String? {
        switch error as? MPinError {
        case .incorrectPIN: "the PIN is wrong"
        case .pinNotPrintable: Explanation(of: error).message
        default: nil
        }
    }

    func logOut(force: Bool?, allPrograms: Bool?, at name: AccountName) async throws -> JSON {
        guard allPrograms == nil else { throw AgentError.onlyAtGateway("allPrograms") }
        let account = try await account(name)
        guard let last = loggedIn.withLock({ $0[name] }) else { return ["loggedIn": false] }
        do {
            _ = try await logOut(MPinUserReference(account: account, name: name, id: last.user))
        } catch  where force == true {
            forget(last.user, at: name)
        }
        return ["loggedIn": false, "userName": .string(last.user)]
    }
}

extension MPinKind {
    /// Ends a user's session in a browser, if there is one.
    ///
    /// - Returns: whether there was.
    func logOut(_ user: MPinUserReference) async throws -> Bool {
        let ended = try await user.account.logOut(user.id)
        forget(user.id, at: user.name)
        if ended { host.report(MPinEvent.didLogOut(user: user.id), of: user.name) }
        return ended
    }

    /// The user no longer counts as logged in.
    func forget(_ user: String, at name: AccountName) {
        loggedIn.withLock { if $0[name]?.user == user { $0[name] = nil } }
    }

    /// All of a login that comes before the PIN.
    func begin(_ user: MPinUserReference, _ login: MPinLoginRequest) async throws {
        do {
            try await user.account.begin(user.id, login)
        } catch let error as MPinError {
            host.report(MPinEvent.didFailToLogin(user: user.id, error), of: user.name)
            throw error
        }
    }

    func logIn(
        _ user: MPinUserReference, pin: SecretBytes, _ login: MPinLoginRequest
    ) async throws -> MPinLoginResult {
        do {
            let result = try await user.account.logIn(user.id, pin: pin, login)
            if login.way == .login { loggedIn.withLock { $0[user.name] = (user.id, host.time.now) } }
            host.report(MPinEvent.didLogin(user: user.id, by: login.way), of: user.name)
            return result
        } catch let error as MPinError {
            host.report(MPinEvent.didFailToLogin(user: user.id, error), of: user.name)
            if case .blocked = error { host.report(MPinEvent.didBlock(user: user.id), of: user.name) }
            throw error
        }
    }
}
