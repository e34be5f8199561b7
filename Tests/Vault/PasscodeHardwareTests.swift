import Cryptography
import Foundation
import TestSupport
import Testing

@testable import Vault

@Suite("Passcode with a half in hardware")
struct PasscodeHardwareTests {
    let bench = try! PasscodeBench()  // Without a temporary directory there is nothing to test.
    private let right = PasscodeBench.right
    private let wrong = PasscodeBench.wrong

    @Test("needs the secret of the chip, whose absence costs no try")
    func hardware() async throws {
        let chip = MemoryHardware()
        let (first, compartment) = try await bench.open(chip.half)
        try await compartment.set(right)
        try await first.commit([.put(token, .token, SecretBytes(utf8: "a"), level: .unlocked)])
        #expect(try await compartment.status().hasHardware)
        try await compartment.change(from: right, to: wrong)
        try await compartment.change(from: nil, to: right)
        await first.close()
        let (vault, without) = try await bench.open()
        await #expect(throws: VaultError.passcode(.hardwareMissing)) { try await without.unlock(by: right) }
        let again = bench.compartment(of: vault, chip.half)
        chip.set(absent: true)
        await #expect(throws: VaultError.chip(.absent(place: "test"))) { try await again.unlock(by: right) }
        #expect(try await again.status().failures == 0)
        chip.set(absent: false)
        try await again.unlock(by: right)
        #expect(try await vault.text(token) == "a")
        chip.replace()
        #expect(try await code { try await again.unlock(by: right) } == 5)
    }

    @Test("gets the half of a chip with the next change, and none is left when it is switched off")
    func later() async throws {
        let chip = MemoryHardware()
        let (vault, _) = try await bench.filled()
        let compartment = bench.compartment(of: vault, chip.half)
        #expect(try await code { try await compartment.change(from: nil, to: right) } == 4)
        #expect(chip.isEmpty)
        try await compartment.change(from: nil, to: wrong)
        #expect(try await compartment.status().hasHardware)
        #expect(!chip.isEmpty)
        try await compartment.turnOff(from: wrong)
        #expect(chip.isEmpty)
        #expect(try await vault.readable() == ProtectionLevel.allCases)
    }

    @Test("an erasure that is cut off leaves nothing that opens, and goes on after a start (SMP 37)")
    func erasure() async throws {
        let chip = MemoryHardware()
        let (first, compartment) = try await bench.open(chip.half)
        try await compartment.set(right)
        try await first.commit(
            ProtectionLevel.allCases.map { .put(PasscodeBench.record($0), .token, SecretBytes(utf8: "a"), level: $0) })
        let wrapped = try bench.desk.column("SELECT wrapped FROM key WHERE level = 'unlocked'")
        chip.set(absent: true)
        await #expect(throws: VaultError.chip(.absent(place: "test"))) { try await compartment.erase() }
        #expect(try await compartment.status().state == .wiping)
        for suffix in ["", "-wal"] { #expect(try bench.desk.bytes(suffix).range(of: Data(wrapped)) == nil) }
        #expect(try await code { try await compartment.unlock(by: right) } == 3)
        // Neither gives a number of the keys away, by which the records are found.
        _ = try await first.rekey()
        _ = try await first.replaceRootKey(for: bench.desk.key, dropping: [])
        await first.close()

        chip.set(absent: false)
        let (vault, again) = try await bench.open(chip.half)
        #expect(try await again.finishWiping())
        #expect(try await !again.finishWiping())
        #expect(chip.isEmpty)
        #expect(try await again.status().state == .none)
        #expect(try await vault.names(scope: "s").map(\.name) == ["always"])
        #expect(try await vault.text(PasscodeBench.record(.always)) == "a")
        #expect(try await vault.verify().faults == [])
        try await again.set(right)
        #expect(try await again.status().state == .set)
    }

    @Test("with a TPM opens only where the index is, which goes with the passcode")
    func tpm() async throws {
        let software = try SoftwareTPM()
        let half = PasscodeHardware.tpm(software.chip)
        let (first, compartment) = try await bench.open(half)
        try await compartment.set(right)
        try await first.commit([.put(token, .token, SecretBytes(utf8: "a"), level: .unlocked)])
        try await compartment.change(from: right, to: wrong)
        await first.close()
        let other = try SoftwareTPM()
        let (vault, elsewhere) = try await bench.open(.tpm(other.chip))
        await #expect(throws: VaultError.chip(.otherChip)) { try await elsewhere.unlock(by: wrong) }
        let again = bench.compartment(of: vault, half)
        #expect(try await again.status().failures == 0)
        try await again.unlock(by: wrong)
        #expect(try await vault.text(token) == "a")
        let copy = try bench.desk.bytes()
        try await again.erase()
        await vault.close()

        // A copy of the disk from before.
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: bench.desk.path + suffix) }
        try bench.desk.write(copy, to: bench.desk.path)
        let (_, former) = try await bench.open(half)
        await #expect {
            try await former.unlock(by: wrong)
        } throws: {
            guard case VaultError.chip(.indexMissing) = $0 else { return false }
            return true
        }
    }
}
