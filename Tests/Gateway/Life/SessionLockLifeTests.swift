import Cryptography
import Foundation
import GatewayLab
import Groundwork
import OAuth
import Testing
import Vault

@testable import Gateway

@Suite("A user's session that is locked", .serialized, .timeLimit(.minutes(8)))
struct SessionLockLifeTests {
    func passcode(_ text: String = "2580") throws -> Passcode { try Passcode(SecretBytes(utf8: text)) }

    /// The error of a lock that something fails with.
    func lockFailure(_ work: () async throws -> some Any) async -> SessionLockError? {
        do {
            _ = try await work()
            return nil
        } catch {
            return error as? SessionLockError
        }
    }

    func locked(at bench: Bench) async throws -> GatewaySession {
        let session = bench.session()
        try await session.logIn("alice")
        try await session.ready()
        #expect(try await session.lock(by: passcode()))
        return session
    }

    private func hidden(at bench: Bench) async throws -> String {
        let name = RecordName(scope: bench.configuration.identity.scope, name: "user-lock")
        return try #require(try await bench.vault.record(name)).content.exposedText()
    }

    @Test(
        "a locked session has no token here or at the gateway, and shows no id_token (MAG 12.3)")
    func sealed() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.logIn("alice")
            try await session.ready()
            let tokens = try #require(try await session.store.holdings().user?.tokens)
            let idToken = try #require(tokens.id).value.exposedText()
            let refresh = try #require(tokens.refresh).exposedText()
            bench.lab.resetCounts()
            #expect(try await session.lock(by: passcode()))
            #expect(bench.lab.requestCounts == [.revocation: 1])
            #expect(try await session.user() == nil)
            let status = try #require(try await session.lockStatus())
            #expect(status.userName == "alice" && status.failures == 0 && !status.hasLeftOverToken)
            let records = try await bench.records()
            #expect(records.contains("user-lock") && !records.contains("user-log-in"))
            let content = try await hidden(at: bench)
            for secret in [idToken, refresh, "alice@lab.test"] { #expect(!content.contains(secret)) }
        }
    }

    @Test("a locked session refuses calls, tokens, login and logout, not the board's own (MAG checklist 42)")
    func refused() async throws {
        try await withBench { bench in
            let session = try await locked(at: bench)
            bench.lab.resetCounts()
            let error = SessionLockError.locked(userName: "alice")
            #expect(error.explanation.gateway?.number == 130_008)
            #expect(await lockFailure { try await session.greeted(as: .user) } == error)
            #expect(
                await lockFailure { try await session.acting(as: nil) { try await session.greeted(as: $0) } } == error)
            #expect(await lockFailure { try await session.accessToken(of: .user, scope: nil) } == error)
            #expect(
                await lockFailure { try await session.accessToken(of: .user, scope: nil, refreshing: true) } == error)
            #expect(await lockFailure { try await session.userInfo() } == error)
            #expect(await lockFailure { try await session.userProfile() } == error)
            #expect(await lockFailure { try await session.sessionStatus() } == error)
            #expect(await lockFailure { try await session.logIn("alice") } == error)
            #expect(await lockFailure { try await session.logIn("bob") } == error)
            #expect(await lockFailure { try await session.authorizationSession() } == error)
            #expect(await lockFailure { try await session.logOut() } == error)
            #expect(await lockFailure { try await session.logOut(force: true) } == error)
            #expect(bench.lab.requestCounts.isEmpty)
            #expect(try await session.greeted(as: .board) == nil)
            #expect(bench.lab.requestCounts == [.hello: 1])
        }
    }

    @Test("a locked session keeps its first passcode over a restart, and gets tokens by the id_token")
    func unlocked() async throws {
        try await withBench { bench in
            let session = try await locked(at: bench)
            let before = try #require(try await session.lockStatus())
            #expect(try await !session.lock(by: passcode("9999")))
            let log = EventLog(session.events)
            bench.lab.resetCounts()
            let restarted = bench.session()
            let found = try #require(try await restarted.lockStatus())
            #expect(
                found.userName == "alice" && found.failures == 0 && found.hasLeftOverToken == before.hasLeftOverToken)
            #expect(try await restarted.unlock(by: passcode()))
            #expect(try await !restarted.unlock(by: passcode("9999")), "what is not locked is unlocked already")
            let user = try #require(try await restarted.user())
            #expect(user.userName == "alice" && user.hasIDToken && user.token == nil)
            // Storing a date loses its last bits.
            #expect(abs(user.loggedInAt.timeIntervalSince(before.loggedInAt)) < 0.001)
            #expect(try await restarted.userProfile()?.attributes["givenName"] == "Alice")
            #expect(bench.lab.requestCounts.isEmpty)
            #expect(try await restarted.greeted(as: .user) == "alice")
            #expect(bench.lab.requestCounts == [.token: 1, .hello: 1])
            #expect(try await !bench.records().contains("user-lock"))
            #expect(await log.names().isEmpty, "the second lock has changed nothing")
        }
    }

    @Test("a lock that was asked for one login locks no other, and what unlocks one unlocks no other")
    func otherLogin() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.logIn("alice")
            let alice = try #require(try await session.user()).loggedInAt
            try await session.logIn("bob")
            #expect(
                await failure { try await session.lock(by: passcode(), loggedInAt: alice) } == .userRequired)
            let bob = try #require(try await session.user())
            #expect(bob.userName == "bob" && bob.hasIDToken)
            #expect(try await session.lock(by: passcode(), loggedInAt: bob.loggedInAt))
            #expect(try await !session.lock(by: passcode(), loggedInAt: bob.loggedInAt))
            let locked = SessionLockError.locked(userName: "bob")
            #expect(await lockFailure { try await session.lock(by: passcode(), loggedInAt: alice) } == locked)
            #expect(await lockFailure { try await session.unlock(by: passcode(), loggedInAt: alice) } == locked)
            #expect(try await session.lockStatus()?.failures == 0)
            // As a restart reads it: storing a date loses its last bits.
            let restarted = bench.session()
            #expect(try await restarted.unlock(by: passcode(), loggedInAt: bob.loggedInAt))
            #expect(try await !restarted.unlock(by: passcode(), loggedInAt: bob.loggedInAt))
            #expect(
                await failure { try await restarted.unlock(by: passcode(), loggedInAt: alice) } == .userRequired)
        }
    }

    @Test("a token of the user is that of the login that it is asked for")
    func tokenOfLogin() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.logIn("alice")
            let alice = try #require(try await session.user()).loggedInAt
            _ = try await session.accessToken(of: .user, scope: nil, loggedInAt: alice)
            try await session.logIn("bob")
            #expect(
                await failure { try await session.accessToken(of: .user, scope: nil, loggedInAt: alice) }
                    == .userRequired)
        }
    }

    @Test("a locked session that has ended meanwhile is given up when it is unlocked (MAG 12.3)")
    func ended() async throws {
        try await withBench { bench in
            let session = try await locked(at: bench)
            bench.time.set(by: 86_401)
            let error = await lockFailure { try await session.unlock(by: passcode()) }
            #expect(error == .sessionEnded && error?.explanation.gateway?.number == 130_102)
            #expect(try await session.lockStatus() == nil)
            #expect(try await session.user() == nil)
        }
    }

    @Test("a locked session can be given up without the passcode, and somebody else logs in")
    func removed() async throws {
        try await withBench { bench in
            let session = try await locked(at: bench)
            #expect(try await session.removeLock())
            #expect(try await !session.removeLock())
            #expect(await failure { try await session.greeted(as: .user) } == .userRequired)
            #expect(try await session.logIn("bob").userName == "bob")
        }
    }

    @Test("a session is locked while the gateway does not answer, too, and the token is revoked later")
    func offline() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.logIn("alice")
            let refresh = try #require(try await session.store.holdings().user?.tokens.refresh)
            bench.lab.inject(Fault(.drop, at: .revocation))
            #expect(try await session.lock(by: passcode()))
            #expect(try await session.lockStatus()?.hasLeftOverToken == true)
            #expect(await lockFailure { try await session.greeted(as: .user) } == .locked(userName: "alice"))
            let restarted = bench.session()
            #expect(await failure { try await restarted.revokeLeftOverTokens() } == nil)
            #expect(try await restarted.lockStatus()?.hasLeftOverToken == true)
            bench.lab.clearFaults()
            bench.lab.resetCounts()
            try await restarted.revokeLeftOverTokens()
            try await restarted.revokeLeftOverTokens()
            #expect(bench.lab.requestCounts == [.revocation: 1])
            #expect(try await restarted.lockStatus()?.hasLeftOverToken == false)
            #expect(try await !hidden(at: bench).contains(refresh.exposedText()))
            #expect(try await restarted.unlock(by: passcode()))
            #expect(try await restarted.greeted(as: .user) == "alice")
        }
    }

    @Test("a locked session's token is revoked later where the gateway only fails at it, not where it refuses")
    func failing() async throws {
        for (status, isKept) in [(500, true), (429, true), (401, false)] {
            try await withBench { bench in
                let session = bench.session()
                try await session.logIn("alice")
                bench.lab.inject(Fault(.error(code: 3_003_990, status: status), at: .revocation))
                #expect(try await session.lock(by: passcode()))
                #expect(try await session.lockStatus()?.hasLeftOverToken == isKept, "\(status)")
            }
        }
    }

    @Test("a lock is refused without a session at the gateway, and without a user (MAG 13.4)")
    func unlockable() async throws {
        try await withBench { bench in
            let session = bench.session(try bench.configuration { $0.set("mag.mobile_sdk.sso_enabled", to: false) })
            #expect(await failure { try await session.lock(by: passcode()) } == .userRequired)
            try await session.ready()
            try await session.logIn("alice")
            let error = await lockFailure { try await session.lock(by: passcode()) }
            #expect(error == .noIDToken && error?.explanation.gateway?.number == 130_106)
            #expect(try await session.greeted(as: .user) == "alice")
        }
    }

    @Test("a locked session goes with the registration, so that the next owner of the board finds nothing")
    func deregistered() async throws {
        try await withBench { bench in
            let session = try await locked(at: bench)
            try await session.deregister()
            #expect(try await session.lockStatus() == nil)
            #expect(try await !bench.records().contains("user-lock"))
        }
    }
}
