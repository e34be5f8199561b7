import Cryptography
import Foundation
import Testing
import Vault

@testable import Gateway

/// Passcodes, and the wait after wrong ones.
extension SessionLockLifeTests {
    @Test("a locked session counts wrong passcodes, delays the next, and is given up after the last")
    func wrong() async throws {
        try await withBench { bench in
            _ = try await locked(at: bench)
            // Long enough that the time that the test takes does not matter.
            let policy = UnlockPolicy(attempts: 3, delay: 400)
            func attempt(_ text: String) async throws -> SessionLockError? {
                let session = bench.session()
                return await lockFailure { try await session.unlock(by: passcode(text), policy) }
            }
            func waits(_ seconds: ClosedRange<Int>) async throws {
                guard case .tooSoon(let wait)? = try await attempt("2580") else {
                    Issue.record("it did not wait")
                    return
                }
                #expect(seconds.contains(wait))
            }
            #expect(try await attempt("1111") == .passcodeWrong(attemptsLeft: 2))
            try await waits(300...400)
            // Where the clock went back, the whole wait begins again with the process: how long it was off is unknown.
            bench.time.set(by: -7200)
            try await waits(300...400)
            bench.time.set(by: 7200 + 401)
            #expect(try await attempt("1111") == .passcodeWrong(attemptsLeft: 1))
            bench.time.set(by: 401)
            try await waits(300...399)
            bench.time.set(by: 401)
            let session = bench.session()
            let log = EventLog(session.events)
            #expect(await lockFailure { try await session.unlock(by: passcode("1111"), policy) } == .attemptsUsedUp)
            #expect(try await session.lockStatus() == nil)
            #expect(try await session.user() == nil)
            #expect(try await !bench.records().contains("user-lock"))
            #expect(await log.names() == ["session-lock-did-remove", "session-did-fail-to-unlock"])
            try await session.logIn("alice")
        }
    }

    @Test("the wait after a wrong passcode passes also where the clock went back, across a restart or not")
    func clockWentBack() async throws {
        try await withBench { bench in
            _ = try await locked(at: bench)
            let policy = UnlockPolicy(attempts: 3, delay: 400)
            let session = bench.session()
            let wrong = await lockFailure { try await session.unlock(by: passcode("1111"), policy) }
            #expect(wrong == .passcodeWrong(attemptsLeft: 2))
            bench.time.set(by: -3600)
            let restarted = bench.session()
            for session in [session, restarted] {
                guard case .tooSoon(300...400)? = await lockFailure({ try await session.requireUnlockDue(policy) })
                else {
                    Issue.record("it did not wait")
                    continue
                }
            }
            bench.time.pass(200)
            guard case .tooSoon(100...200)? = await lockFailure({ try await restarted.requireUnlockDue(policy) })
            else {
                Issue.record("it did not wait, or for too long")
                return
            }
            bench.time.pass(201)
            try await session.requireUnlockDue(policy)
            #expect(try await restarted.unlock(by: passcode(), policy))
        }
    }

    @Test("the wait passes also while the best known time stands still")
    func clockStandsStill() async throws {
        try await withBench { bench in
            _ = try await locked(at: bench)
            let (policy, floor) = (UnlockPolicy(attempts: 3, delay: 400), Date())
            let session = bench.session(clock: { floor })
            _ = await lockFailure { try await session.unlock(by: passcode("1111"), policy) }
            bench.time.pass(300)
            guard case .tooSoon(1...100)? = await lockFailure({ try await session.requireUnlockDue(policy) }) else {
                Issue.record("it did not wait, or for too long")
                return
            }
            bench.time.pass(101)
            #expect(try await session.unlock(by: passcode(), policy))
        }
    }

    @Test(
        "a lock takes passcodes of 4 to 256 bytes",
        arguments: [(3, false), (4, true), (256, true), (257, false), (0, false)])
    func lengths(count: Int, isAllowed: Bool) {
        let secret = SecretBytes(utf8: String(repeating: "7", count: count))
        #expect(((try? Passcode(secret)) != nil) == isAllowed)
    }

    @Test(
        "a lock doubles the wait with each wrong passcode, up to a quarter of an hour",
        arguments: [(0, 0.0), (1, 1), (2, 2), (5, 16), (10, 512), (11, 900), (60, 900)])
    func waits(failures: Int, seconds: Double) {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let policy = UnlockPolicy(attempts: 100, delay: 1)
        #expect(policy.wait(failures: failures, last: now, at: now, waited: 0) == seconds)
        #expect(policy.wait(failures: failures, last: now, at: now + seconds, waited: 0) == 0)
        #expect(policy.wait(failures: failures, last: now, at: now - 10_000, waited: seconds) == 0)
    }
}
