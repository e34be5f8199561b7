import Cryptography
import Foundation
import TestSupport
import Testing

@testable import Vault

@Suite("Killed while a guarded vault counts")
struct RollbackKillTests {
    /// Where the process that is killed finds its vault and its TPM.
    private static func note(_ parent: Int32, _ point: String) -> String {
        FileManager.default.temporaryDirectory.path + "/latchkey-\(point)-\(parent)"
    }

    /// Works on a guarded vault until it is killed.
    private static func die(at point: String, _ body: (Vault) async throws -> Void) async throws {
        let lines = try String(contentsOfFile: note(getppid(), point), encoding: .utf8).split(separator: "\n")
        let vault = try await Vault.open(
            at: lines[0] + "/vault.db", with: [DevelopmentKeyFile(lines[0] + "/vault.key")], creating: false)
        await vault.guardAgainstRollback(by: Chip(at: String(lines[1])))
        setenv("LATCHKEY_KILL_AT", point, 1)
        try await body(vault)
    }

    private static func count(_ vault: Vault) async throws {
        try await vault.checkRollback()
        try await vault.commit([.put(token, .token, SecretBytes(utf8: "new"))], counting: true)
        try await vault.checkRollback()
    }

    /// A vault as a process leaves it that is killed.
    private func killed(_ bench: GuardBench, at point: String, by run: () async -> Void) async throws {
        let note = Self.note(getpid(), point)
        try "\(bench.desk.directory)\n\(bench.software.place)".write(toFile: note, atomically: true, encoding: .utf8)
        await run()
        try FileManager.default.removeItem(atPath: note)
    }

    private func expectGuarded(_ bench: GuardBench) async throws {
        #expect(try await bench.fault() == nil)
        #expect(try bench.indexes() == 1)
        let copy = try bench.copy()
        try await bench.withVault { try await Self.count($0) }
        #expect(try await bench.fault() == nil)
        try bench.putBack(copy)
        #expect(try await bench.fault() == .rolledBack)
    }

    @Test("a counter that a kill leaves without an anchor is found again, and is the only one")
    func made() async throws {
        let bench = try GuardBench()
        try await bench.desk.fill((token, "old"))
        try await killed(bench, at: "counter-made") {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                try await Self.die(at: "counter-made") { try await $0.checkRollback() }
            }
        }
        #expect(try bench.indexes() == 1)
        try await expectGuarded(bench)
    }

    @Test("an anchor that a kill leaves before its counter has counted gets the counter's first value")
    func planned() async throws {
        let bench = try GuardBench()
        try await bench.desk.fill((token, "old"))
        try await killed(bench, at: "anchor-planned") {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                try await Self.die(at: "anchor-planned") { try await $0.checkRollback() }
            }
        }
        try await expectGuarded(bench)
    }

    @Test("a kill after a counter's first count, before the anchor has its value, is no copy put back")
    func raisedFirst() async throws {
        let bench = try GuardBench()
        try await bench.desk.fill((token, "old"))
        try await killed(bench, at: "counter-raised") {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                try await Self.die(at: "counter-raised") { try await $0.checkRollback() }
            }
        }
        try await expectGuarded(bench)
    }

    @Test("a kill between the commit that counts and its counter is no copy put back, and the counter follows")
    func written() async throws {
        let bench = try GuardBench()
        try await bench.fill()
        try await killed(bench, at: "anchor-written") {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                try await Self.die(at: "anchor-written") { try await Self.count($0) }
            }
        }
        #expect(try await bench.withVault { try await $0.text(token) } == "new")
        try await expectGuarded(bench)
    }

    @Test("a counter that a kill leaves in the TPM when it is no longer used is removed by the next call")
    func retired() async throws {
        let bench = try GuardBench()
        try await bench.fill()
        try await killed(bench, at: "counter-retired") {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                try await Self.die(at: "counter-retired") { try await $0.endGuarding(by: Chip(at: "none")) }
            }
        }
        #expect(try bench.indexes() == 1)
        try await bench.withVault { try await $0.endGuarding(by: bench.chip) }
        #expect(try bench.indexes() == 0)
        #expect(try await bench.fault() == nil)
    }
}
