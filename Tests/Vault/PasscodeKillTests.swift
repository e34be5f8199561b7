import Cryptography
import Foundation
import Testing

@testable import Vault

@Suite("Killed while a passcode is tried")
struct PasscodeKillTests {
    /// Where the process that is killed finds the name of its vault's directory.
    private static func note(_ parent: Int32, _ point: String) -> String {
        FileManager.default.temporaryDirectory.path + "/latchkey-\(point)-\(parent)"
    }

    /// Works on a vault until it is killed.
    private static func die(at point: String, _ body: (Compartment) async throws -> Void) async throws {
        setenv("LATCHKEY_KILL_AT", point, 1)
        let directory = try String(contentsOfFile: note(getppid(), point), encoding: .utf8)
        let vault = try await Vault.open(
            at: directory + "/vault.db", with: [DevelopmentKeyFile(directory + "/vault.key")], creating: false)
        try await body(Compartment(of: vault, cost: lightCost))
    }

    /// A vault as a process leaves it that is killed.
    private func killed(at point: String, by run: () async -> Void) async throws -> PasscodeBench {
        let bench = try PasscodeBench()
        let (vault, _) = try await bench.filled()
        await vault.close()
        let note = Self.note(getpid(), point)
        try bench.desk.directory.write(toFile: note, atomically: true, encoding: .utf8)
        await run()
        try FileManager.default.removeItem(atPath: note)
        return bench
    }

    /// After the wait, the right passcode opens everything.
    private func expect(_ bench: PasscodeBench, failures: Int) async throws {
        let (vault, compartment) = try await bench.open()
        #expect(try await compartment.status().failures == failures)
        #expect(try await vault.readable() == [.always])
        // The killed process has the time of the machine, which is behind that of the bench.
        bench.passWait()
        try await compartment.unlock(by: PasscodeBench.right)
        #expect(try await vault.readable() == ProtectionLevel.allCases)
        #expect(try await vault.verify().faults == [])
    }

    @Test("a try is not given back by a kill before the passcode is judged (SMP 32)")
    func counted() async throws {
        let bench = try await killed(at: "passcode-counted") {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                try await Self.die(at: "passcode-counted") { try await $0.unlock(by: PasscodeBench.wrong) }
            }
        }
        try await expect(bench, failures: 1)
    }

    @Test("the right passcode counts as a try until that is forgotten on the disk, too (SMP 32)")
    func opened() async throws {
        let bench = try await killed(at: "passcode-opened") {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                try await Self.die(at: "passcode-opened") { try await $0.unlock(by: PasscodeBench.right) }
            }
        }
        try await expect(bench, failures: 1)
    }

    @Test("tries are forgotten once the right passcode was given (SMP 32)")
    func reset() async throws {
        let bench = try await killed(at: "passcode-reset") {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                try await Self.die(at: "passcode-reset") { try await $0.unlock(by: PasscodeBench.right) }
            }
        }
        try await expect(bench, failures: 0)
    }

    @Test("an erasure that is killed goes on, and the passcode opens nothing meanwhile (SMP 32)")
    func wiping() async throws {
        let bench = try await killed(at: "passcode-wiping") {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                try await Self.die(at: "passcode-wiping") { try await $0.erase() }
            }
        }
        let (vault, compartment) = try await bench.open()
        #expect(try await compartment.status().state == .wiping)
        await #expect(throws: VaultError.passcode(.noPasscode)) {
            try await compartment.unlock(by: PasscodeBench.right)
        }
        #expect(try await compartment.finishWiping())
        #expect(try await vault.names(scope: "s").map(\.name) == ["always"])
        #expect(try await vault.readable() == [.always])
        #expect(try await vault.verify().faults == [])
    }
}
