public import Cryptography
import Groundwork

/// An account at an M-Pin back end, whose users are named by their ids.
public actor MPinAccount {
    public nonisolated let backend: MPinBackend
    /// Users who were made, and are not stored before their registration has begun. The oldest are forgotten.
    private var fresh: [MPinUser] = []
    private static let freshLimit = 16

    init(_ backend: MPinBackend) { self.backend = backend }

    public nonisolated var configuration: MPinConfiguration { backend.configuration }

    /// Sorted by their ids. The back end is not asked.
    public func users() async throws -> [MPinUser] {
        try await backend.open()
        let held = try await backend.users()
        return (held + fresh.filter { user in !held.contains { $0.id == user.id } }).sorted { $0.id < $1.id }
    }

    /// The back end's settings are fetched, if they have not been.
    ///
    /// - Throws: `MPinError.noSuchUser` and others
    public func user(_ id: String) async throws -> MPinUser {
        try await backend.prepare()
        if let user = fresh.first(where: { $0.id == id }) { return user }
        return try await backend.user(id)
    }

    /// Replaces one of the same name that is not stored.
    public func newUser(_ id: String, deviceName: String?) async throws -> MPinUser {
        try await backend.prepare()
        let user = try await backend.makeUser(id, deviceName: deviceName)
        fresh.removeAll { $0.id == id }
        fresh = fresh.suffix(Self.freshLimit - 1) + [user]
        return user
    }

    /// Whether the back end wants to know what this board is called; `false` before ``newUser(_:deviceName:)``.
    public var asksForDeviceName: Bool {
        get async { await backend.asksForDeviceName }
    }

    public func delete(_ id: String) async throws {
        let count = fresh.count
        fresh.removeAll { $0.id == id }
        guard fresh.count == count else { return }
        try await backend.open()
        try await backend.deleteUser(try await backend.user(id))
    }

    // MARK: Registration

    public func register(
        _ id: String, restart: Bool, activationCode: SecretBytes?, userData: String?
    ) async throws -> MPinUser {
        let user = try await user(id)
        guard !restart else { return try await backend.restartRegistration(user, userData: userData) }
        let registered = try await backend.startRegistration(
            user, activateCode: activationCode, userData: userData)
        fresh.removeAll { $0.id == id }
        return registered
    }

    public func confirm(_ id: String, pushToken: String?) async throws -> MPinUser {
        try await backend.confirmRegistration(try await user(id), pushIdentifier: pushToken)
    }

    /// - Throws: `MPinError.stepMissing`, `MPinError.wrongState`
    public func requireConfirmed(_ id: String) async throws {
        let user = try await user(id)
        guard [.startedRegistration, .activated].contains(user.state) else {
            throw MPinError.wrongState(user: id, state: user.state)
        }
        guard user.isConfirmed else { throw MPinError.stepMissing(step: "the confirmation of the registration") }
    }

    public func finish(_ id: String, pin: SecretBytes) async throws -> MPinUser {
        try await backend.finishRegistration(try await user(id), pin: pin)
    }

    // MARK: Logging in

    /// All of a login that comes before the PIN.
    public func begin(_ id: String, _ wish: MPinLoginRequest) async throws {
        let user = try await user(id)
        if wish.way == .accessNumber, wish.isTyped { try await backend.checkAccessNumber(wish.accessNumber) }
        try await backend.startAuthentication(user, accessCode: wish.accessCode)
    }

    public func logIn(_ id: String, pin: SecretBytes, _ wish: MPinLoginRequest) async throws -> MPinLoginResult {
        let user = try await user(id)
        var result = MPinLoginResult(user: id, way: wish.way)
        switch wish.way {
        case .login:
            let answer = try await backend.finishAuthentication(user, pin: pin)
            result.answer = try? JSON(parsing: Array(answer.utf8))
        case .oneTimePassword: result.password = try await backend.finishAuthenticationOTP(user, pin: pin)
        case .accessNumber:
            try await backend.finishAuthentication(user, pin: pin, accessNumber: wish.accessNumber)
            result.canLogOut = try await backend.canLogOut(user)
        case .multiFactor: result.code = try await backend.finishAuthenticationMFA(user, pin: pin)
        }
        return result
    }

    // MARK: Sessions in browsers

    public func session(of code: String) async throws -> MPinSessionDetails {
        try await backend.prepare()
        return try await backend.sessionDetails(code)
    }

    /// - Returns: whether there was a session that could be ended.
    public func logOut(_ id: String) async throws -> Bool {
        let user = try await user(id)
        guard try await backend.canLogOut(user) else { return false }
        return try await backend.logOut(user)
    }
}
