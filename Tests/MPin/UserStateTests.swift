import Cryptography
import Foundation
import Groundwork
import HTTPClient
import Testing

@testable import MPin

@Suite("The states of an M-Pin user", .timeLimit(.minutes(8)))
struct UserStateTests {
    @Test("an M-Pin user's states follow the table, verified at once or later (MPIN 7, MPIN checklist 34)")
    func table() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let made = try await backend.makeUser("alice", deviceName: "board")
        #expect(made.state == .invalid)
        #expect(try await backend.users().isEmpty)

        try await server.answer("user", 500)
        #expect(await status { _ = try await backend.startRegistration(made) } == .httpServerError)
        #expect(try await backend.users().isEmpty)
        try await server.behave()

        var user = try await backend.startRegistration(made)
        #expect(user.state == .startedRegistration && user.deviceName == "board")
        #expect(await status { _ = try await backend.confirmRegistration(user) } == .identityNotVerified)
        #expect(try await backend.user("alice").state == .startedRegistration)
        user = try await backend.restartRegistration(user)
        #expect(user.state == .startedRegistration)
        try await server.set(["isActive": true])
        user = try await backend.restartRegistration(user)
        #expect(user.state == .activated)
        #expect(await status { _ = try await backend.restartRegistration(user) } == .flowError)
        user = try await backend.confirmRegistration(user)
        #expect(user.state == .activated && user.isConfirmed)
        #expect(
            await status { _ = try await backend.finishRegistration(user, pin: SecretBytes(utf8: "ü")) }
                == .flowError)
        #expect(try await backend.user("alice").state == .activated)
        user = try await backend.finishRegistration(user, pin: MPinBackend.pin)
        #expect(user.state == .registered && !user.isConfirmed)
        try await backend.logIn(user)
        #expect(try await backend.user("alice").state == .registered)
        for code in [401, 403, 408, 409, 412, 500] as [Int64] {
            try await server.answer("authenticate", code)
            #expect(await status { try await backend.logIn(user) } != .ok)
            #expect(try await backend.user("alice").state == .registered)
        }
        try await server.answer("authenticate", 410)
        #expect(await status { try await backend.logIn(user) } == .incorrectPIN)
        #expect(try await backend.user("alice").state == .blocked)
        try await server.behave()

        user = try await backend.user("alice")
        try await backend.deleteUser(user)
        #expect(try await backend.users().isEmpty)
        #expect(try await backend.startRegistration(backend.makeUser("alice")).state == .activated)
    }

    @Test("an M-Pin user who waits for verification is confirmed without another step once verified (MPIN 7)")
    func verifiedLater() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.startedRegistration, at: server)
        try await server.set(["isActive": true])
        let confirmed = try await backend.confirmRegistration(user)
        #expect(confirmed.state == .startedRegistration && confirmed.isConfirmed)
        // The first authority answers only once, so nothing is asked for again.
        let requests = try await server.requests { _ = try await backend.confirmRegistration(confirmed) }
        #expect(requests.isEmpty)
        #expect(try await backend.finishRegistration(confirmed, pin: MPinBackend.pin).state == .registered)
    }

    private enum Operation: String, CaseIterable {
        case start, restart, confirm, finish, startLogin, logIn, password, accessNumber, code

        /// The states in which it is none of a wrong order.
        var allowed: Set<MPinUserState> {
            switch self {
            case .start: [.invalid]
            case .restart: [.startedRegistration]
            case .confirm, .finish: [.startedRegistration, .activated]
            default: [.registered]
            }
        }

        func run(_ backend: MPinBackend, _ user: MPinUser, pin: SecretBytes = MPinBackend.pin) async throws {
            switch self {
            case .start: _ = try await backend.startRegistration(user)
            case .restart: _ = try await backend.restartRegistration(user)
            case .confirm: _ = try await backend.confirmRegistration(user)
            case .finish: _ = try await backend.finishRegistration(user, pin: pin)
            case .startLogin: try await backend.startAuthentication(user)
            case .logIn: _ = try await backend.finishAuthentication(user, pin: pin)
            case .password: _ = try await backend.finishAuthenticationOTP(user, pin: pin)
            case .accessNumber: try await backend.finishAuthentication(user, pin: pin, accessNumber: "4241703")
            case .code: _ = try await backend.finishAuthenticationMFA(user, pin: pin)
            }
        }
    }

    @Test("an M-Pin operation in another state is a FLOW_ERROR and asks nobody (MPIN 6, MPIN checklist 34)")
    func wrongOrder() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let other = try await server.backend("two")
        var users = [try await backend.makeUser("nobody")]
        for state in [MPinUserState.startedRegistration, .activated, .registered, .blocked] {
            users.append(try await backend.user(state, named: state.rawValue, at: server))
        }
        let fresh = MPinBackend(
            name: "fresh", configuration: server.configuration(), vault: server.vault, scope: "account/fresh",
            client: HTTPClient(), clock: { Date() })
        let unconnected = MPinBackend(
            name: "one", configuration: server.configuration(), vault: server.vault, scope: "account/one",
            client: HTTPClient(), clock: { Date() })
        try await unconnected.open()
        let deleted = try await backend.user(.registered, named: "deleted", at: server)
        try await backend.deleteUser(deleted)
        // Another one of that name is not the one who was deleted.
        _ = try await backend.user(.registered, named: "deleted", at: server)
        let requests = try await server.requests {
            for operation in Operation.allCases {
                for user in users where !operation.allowed.contains(user.state) {
                    #expect(
                        await status { try await operation.run(backend, user) } == .flowError,
                        "\(operation) \(user.state)")
                }
                for user in users {
                    #expect(await status { try await operation.run(fresh, user) } == .flowError)
                    #expect(await status { try await operation.run(unconnected, user) } == .flowError)
                    #expect(await status { try await operation.run(other, user) } == .flowError)
                }
                #expect(await status { try await operation.run(backend, deleted) } == .flowError, "\(operation)")
            }
            for (backend, user) in [(backend, users[0]), (backend, deleted), (other, users[3]), (fresh, users[3])] {
                #expect(await status { try await backend.deleteUser(user) } == .flowError)
                #expect(await status { _ = try await backend.logOut(user) } == .flowError)
                #expect(await status { _ = try await backend.canLogOut(user) } == .flowError)
            }
            // What comes before has not happened: the shares, and the time permit.
            #expect(await status { try await Operation.finish.run(backend, users[2]) } == .flowError)
            #expect(await status { try await Operation.logIn.run(backend, users[3]) } == .flowError)
            #expect(await status { _ = try await fresh.users() } == .flowError)
            #expect(await status { _ = try await fresh.makeUser("alice") } == .flowError)
            #expect(await status { try await fresh.connect() } == .flowError)
            #expect(await status { _ = try await unconnected.makeUser("alice") } == .flowError)
            #expect(await status { _ = try await unconnected.sessionDetails("code") } == .flowError)
            #expect(await status { try await unconnected.checkAccessNumber("4241703") } == .flowError)
            #expect(await status { _ = try await backend.makeUser("REGISTERED") } == .flowError)
            #expect(await status { _ = try await backend.makeUser("") } == .flowError)
        }
        #expect(requests.isEmpty)
    }

    @Test("the third wrong PIN in a row blocks for good and erases the token (MPIN 5.10, MPIN checklist 35)")
    func blocking() async throws {
        let server = try await FakeBackEnd.start()
        var backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        for _ in 1...3 {
            #expect(try await backend.user("alice").state == .registered)
            #expect(await status { try await backend.logIn(user, MPinBackend.wrongPIN) } == .incorrectPIN)
        }
        for _ in 1...2 {
            let blocked = try await backend.user("alice")
            #expect(blocked.state == .blocked)
            let requests = try await server.requests {
                #expect(await status { try await backend.logIn(blocked) } == .flowError)
            }
            #expect(requests.isEmpty)
            let stored = try await backend.store.read()
            #expect(stored.secrets.isEmpty && stored.entries.values.map(\.permit) == [nil])
            backend = try await server.restarted()
        }
        try await backend.deleteUser(backend.user("alice"))
        #expect(try await server.restarted().users().isEmpty)
        try await backend.logIn(try await backend.user(.registered, at: server))
    }

    @Test("the right PIN after two wrong ones succeeds, and the count begins again (MPIN checklist 36)")
    func countsBeginAgain() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        try await backend.startAuthentication(user)
        for _ in 1...2 {
            for _ in 1...2 {
                #expect(
                    await status { _ = try await backend.finishAuthentication(user, pin: MPinBackend.wrongPIN) }
                        == .incorrectPIN)
            }
            _ = try await backend.finishAuthentication(user, pin: MPinBackend.pin)
        }
        #expect(try await backend.user("alice").state == .registered)
    }

    @Test("without a PIN nothing is sent or changed, and a later one works (MPIN 2.6, MPIN checklist 37)")
    func noPIN() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.confirmRegistration(try await backend.user(.activated, at: server))
        let none = SecretBytes([])
        var requests = try await server.requests {
            #expect(
                await status { _ = try await backend.finishRegistration(user, pin: none) } == .pinInputCanceled)
        }
        #expect(requests.isEmpty)
        #expect(try await backend.user("alice") == user)
        let registered = try await backend.finishRegistration(user, pin: MPinBackend.pin)
        try await backend.startAuthentication(registered)
        requests = try await server.requests {
            for operation in [Operation.logIn, .password, .accessNumber, .code] {
                #expect(
                    await status { try await operation.run(backend, registered, pin: none) } == .pinInputCanceled)
            }
        }
        #expect(requests.isEmpty)
        _ = try await backend.finishAuthentication(registered, pin: MPinBackend.pin)
    }

    @Test("two logins with the same PIN send different commitments (MPIN 2.8, MPIN checklist 11)")
    func fresh() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        let requests = try await server.requests {
            for _ in 1...3 { try await backend.logIn(user) }
        }
        let commitments = requests.filter { $0.path.hasSuffix("/pass1") }.compactMap { $0.body["U"]?.string }
        #expect(Set(commitments).count == 3)
    }

    @Test("M-Pin operations asked for at the same time come one after the other, and all succeed")
    func oneAtATime() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        try await backend.startAuthentication(user)
        let requests = try await server.requests {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...5 {
                    group.addTask { _ = try await backend.finishAuthentication(user, pin: MPinBackend.pin) }
                }
                try await group.waitForAll()
            }
        }
        let order = requests.map { String($0.path.split(separator: "/").last ?? "") }
        #expect(order == Array(repeating: ["pass1", "pass2", "mpinAuthenticate"], count: 5).flatMap { $0 })
    }

    @Test("a caller who leaves does not lose the client secret, which is given only once (MPIN 5.6)")
    func canceledConfirmation() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.activated, at: server)
        try await server.holding("signature") {
            let caller = Task { try await backend.confirmRegistration(user) }
            try await server.held()
            caller.cancel()
            await #expect(throws: CancellationError.self) { try await caller.value }
        }
        // It waits for the one that was left.
        #expect(try await backend.confirmRegistration(user).isConfirmed)
    }

    @Test("a caller who leaves an M-Pin login ends it")
    func canceledLogin() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        try await backend.startAuthentication(user)
        let requests = try await server.requests {
            try await server.holding("pass1") {
                let caller = Task { try await backend.finishAuthentication(user, pin: MPinBackend.pin) }
                try await server.held()
                caller.cancel()
                await #expect(throws: CancellationError.self) { try await caller.value }
            }
            _ = try await backend.finishAuthentication(user, pin: MPinBackend.pin)
        }
        #expect(requests.map { $0.path.split(separator: "/").last } == ["pass1", "pass1", "pass2", "mpinAuthenticate"])
    }
}
