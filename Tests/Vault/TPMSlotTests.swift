import Cryptography
import Foundation
import TestSupport
import Testing

@testable import Vault

@Suite("Slots in a TPM")
struct TPMSlotTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    let software = try! SoftwareTPM()  // Nor without swtpm.
    var slot: TPMSlot { TPMSlot(software.chip) }

    @Test("a slot in a TPM opens the vault, also after a start of the TPM, and leaves nothing loaded there")
    func opens() async throws {
        let vault = try await desk.open(with: slot, creating: true)
        try await vault.put(token, "a")
        #expect(try await vault.openedBy().kind == .tpm)
        await vault.close()
        software.stop()
        try software.start()
        for _ in 0..<10 {
            let vault = try await desk.open(with: slot)
            #expect(try await vault.text(token) == "a")
            await vault.close()
        }
    }

    @Test("a slot in a TPM is never replaced when it is damaged, as it may be a key in hardware")
    func stays() async throws {
        #expect(!Slot.Kind.tpm.isReplaceable)
        #expect(!Slot.Kind.tpm.isDevelopment)
        await (try desk.open(with: slot, creating: true)).close()
        let fault = VaultError.fileDamaged(path: desk.path, detail: "")
        #expect(throws: fault) { try Vault.setAside(at: desk.path, after: fault, with: [slot]) }
    }

    @Test("a slot in a TPM does not open with another TPM, nor after a clear")
    func otherChip() async throws {
        await (try desk.open(with: slot, desk.key, creating: true)).close()
        let other = try SoftwareTPM()
        await #expect(throws: VaultError.chip(.otherChip)) { try await desk.open(with: TPMSlot(other.chip)) }
        try #require(try software.run("tpm2_clear", "-c", "p") == 0)
        await #expect(throws: VaultError.chip(.otherChip)) { try await desk.open(with: slot) }
        // Another slot opens it, and the slot is renewed.
        let vault = try await desk.open(with: slot, desk.key)
        let old = try #require(try await vault.slots().first { $0.kind == .tpm })
        try await vault.rewrap(slot: old.id, with: slot)
        await vault.close()
        await (try desk.open(with: slot)).close()
    }

    @Test("a slot that is bound to registers opens until one of them changes")
    func registers() async throws {
        let registers = try #require(ChipRegisters([16, 23]))
        let bound = TPMSlot(software.chip, registers: registers)
        await (try desk.open(with: bound, creating: true)).close()
        // The slot has its own registers, whatever new ones would have.
        for _ in 0..<5 { await (try desk.open(with: slot)).close() }
        let digest = String(repeating: "5a", count: 32)
        try #require(try software.run("tpm2_pcrextend", "15:sha256=\(digest)") == 0)
        await (try desk.open(with: slot)).close()
        try #require(try software.run("tpm2_pcrextend", "16:sha256=\(digest)") == 0)
        for _ in 0..<5 {
            await #expect(throws: VaultError.chip(.registersChanged)) { try await desk.open(with: bound) }
        }
        #expect(!ChipError.registersChanged.isTemporary)
    }

    @Test("registers of a slot are 0 to 23, and must be in the TPM's SHA-256 bank")
    func unknownRegisters() async throws {
        #expect(ChipRegisters([24]) == nil)
        #expect(ChipRegisters([-1]) == nil)
        #expect(ChipRegisters(mask: 1 << 24) == nil)
        #expect(ChipRegisters([0, 7, 23])?.mask == 0x80_0081)
        try #require(try software.run("tpm2_pcrallocate", "sha1:all+sha256:none") == 0)
        software.stop()
        try software.start()
        let bound = TPMSlot(software.chip, registers: try #require(ChipRegisters([7])))
        await #expect(throws: VaultError.chip(.registersUnavailable)) {
            try await desk.open(with: bound, creating: true)
        }
    }

    @Test("a TPM whose owner has an authorization value asks for it")
    func owner() async throws {
        let secret = SecretBytes(utf8: "the owner's")
        try #require(try software.run("tpm2_changeauth", "-c", "owner", "the owner's") == 0)
        await #expect(throws: VaultError.chip(.ownerUnauthorized)) { try await desk.open(with: slot, creating: true) }
        let wrong = TPMSlot(Chip(at: software.place, owner: SecretBytes(utf8: "another")))
        let right = TPMSlot(
            Chip(at: software.place, owner: secret), registers: try #require(ChipRegisters([7])))
        await (try desk.open(with: right, creating: true)).close()
        await #expect(throws: VaultError.chip(.ownerUnauthorized)) { try await desk.open(with: wrong) }
        for _ in 0..<5 { await (try desk.open(with: right)).close() }
    }

    @Test("parameters of a slot in a TPM are refused when truncated, prolonged or of another form")
    func hostile() async throws {
        let bound = TPMSlot(software.chip, registers: try #require(ChipRegisters([0, 23])))
        for slot in [slot, bound] {
            let bytes = try await slot.makeWrappingKey().parameters
            #expect(bytes.count < 1024)
            #expect(TPMSlot.Parameters(decoding: bytes)?.encoded() == bytes)
            for count in 0..<bytes.count { #expect(TPMSlot.Parameters(decoding: Array(bytes.prefix(count))) == nil) }
            #expect(TPMSlot.Parameters(decoding: bytes + [0]) == nil)
            var refused = 0
            for index in bytes.indices {
                var changed = bytes
                changed[index] ^= 0x80
                let decoded = TPMSlot.Parameters(decoding: changed)
                if let decoded { #expect(decoded.encoded() == changed) } else { refused += 1 }
            }
            // The counts, the purpose, the template and what is before the policy.
            #expect(refused > 40)
        }
        #expect(TPMSlot.Parameters(decoding: [UInt8](repeating: 0, count: 5000)) == nil)
        await #expect(throws: VaultError.slotParametersRefused(kind: .tpm)) {
            try await slot.wrappingKey(from: [1, 2])
        }
    }

    @Test("parameters of a slot in a TPM that say less registers than the object has do not open it")
    func fewerRegisters() async throws {
        let bound = TPMSlot(software.chip, registers: try #require(ChipRegisters([7, 16])))
        let made = try #require(TPMSlot.Parameters(decoding: try await bound.makeWrappingKey().parameters))
        let fewer = TPMSlot.Parameters(
            object: made.object, primaryName: made.primaryName, registers: try #require(ChipRegisters([7])))
        await #expect(throws: VaultError.chip(.registersChanged)) {
            try await slot.wrappingKey(from: fewer.encoded())
        }
        let none = TPMSlot.Parameters(object: made.object, primaryName: made.primaryName, registers: .none)
        await #expect(throws: VaultError.slotParametersRefused(kind: .tpm)) {
            try await slot.wrappingKey(from: none.encoded())
        }
    }

    @Test("an object of a slot that was changed is refused by the TPM")
    func changed() async throws {
        let made = try #require(TPMSlot.Parameters(decoding: try await slot.makeWrappingKey().parameters))
        var privateArea = made.object.privateArea
        privateArea[privateArea.count - 1] ^= 1
        let object = ChipObject(publicArea: made.object.publicArea, privateArea: privateArea)
        let changed = TPMSlot.Parameters(object: object, primaryName: made.primaryName, registers: .none)
        for _ in 0..<5 {
            await #expect(throws: VaultError.chip(.otherChip)) { try await slot.wrappingKey(from: changed.encoded()) }
        }
        // An area that is longer than any object's, but allowed in the file.
        let long = ChipObject(publicArea: made.object.publicArea, privateArea: [UInt8](repeating: 1, count: 1600))
        let prolonged = TPMSlot.Parameters(object: long, primaryName: made.primaryName, registers: .none)
        await #expect(throws: VaultError.self) { try await slot.wrappingKey(from: prolonged.encoded()) }
        #expect(try await slot.wrappingKey(from: made.encoded()).count == 32)
    }
}
