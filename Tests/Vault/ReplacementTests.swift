import Cryptography
import Foundation
import Groundwork
import Storage
import Testing

@testable import Vault

@Suite("Replacing a damaged vault")
struct ReplacementTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.
    private let unknown = Slot.Kind(rawValue: "of-tomorrow")

    private func damage() throws -> VaultError {
        try desk.flip("root", of: "vault")
        return .manifestDamaged(path: desk.path)
    }

    private func expectToStay(after fault: VaultError, with key: any SlotKey) throws {
        let before = try (desk.bytes(), desk.files())
        #expect(throws: fault) { try Vault.setAside(at: desk.path, after: fault, with: [key]) }
        #expect(try desk.bytes() == before.0)
        #expect(try desk.files() == before.1)
    }

    @Test("a damaged vault is set aside if all its slots are of kinds that can be made again")
    func replaceable() async throws {
        let passphrase = Passphrase(SecretBytes(utf8: "correct horse battery"), cost: lightCost)
        let credential = GivenCredential(SecretBytes([UInt8](repeating: 1, count: 32)))
        await (try desk.open(with: passphrase, credential, desk.key, creating: true)).close()
        let fault = try damage()
        await #expect(throws: fault) { try await desk.open() }
        let path = try Vault.setAside(at: desk.path, after: fault, with: [desk.key])
        #expect(try desk.files().contains(path.split(separator: "/").last.map(String.init) ?? ""))
        #expect(try await desk.open().scopes() == [])
    }

    @Test("a damaged vault with a passcode stays, as a new one would have all its tries again")
    func passcode() async throws {
        let vault = try await desk.open()
        let compartment = Compartment(of: vault, cost: lightCost)
        try await compartment.set(PasscodeBench.right)
        await vault.close()
        let sound = try desk.bytes()
        try expectToStay(after: try damage(), with: desk.key)
        try desk.write(sound, to: desk.path)
        let again = try await desk.open()
        try await Compartment(of: again, cost: lightCost).turnOff(from: PasscodeBench.right)
        await again.close()
        _ = try Vault.setAside(at: desk.path, after: try damage(), with: [desk.key])
    }

    @Test("a damaged vault with a slot of an unknown kind stays, whichever key it should have opened with")
    func unknownKind() async throws {
        try await desk.fill((token, "a"))
        try desk.tamper(
            "INSERT INTO slot SELECT 2, ?1, created, parameters, wrapped, digest FROM slot", .text(unknown.rawValue))
        try expectToStay(after: try damage(), with: desk.key)
    }

    @Test("a damaged vault stays when it has more slots than are read, and one of them is of an unknown kind")
    func manySlots() async throws {
        try await desk.fill((token, "a"))
        for id in 2...20 {
            try desk.tamper(
                "INSERT INTO slot SELECT ?1, kind, created, parameters, wrapped, digest FROM slot WHERE id = 1",
                .integer(Int64(id)))
        }
        try desk.tamper("UPDATE slot SET kind = ?1 WHERE id = 20", .text(unknown.rawValue))
        try expectToStay(after: try damage(), with: desk.key)
    }

    @Test("a vault whose slots cannot be read is set aside or stays by the kind of the key it should have opened with")
    func unreadable() throws {
        try desk.write(Data(repeating: 0x41, count: 9000), to: desk.path)
        let fault = VaultError.fileDamaged(path: desk.path, detail: "it is not a vault")
        try expectToStay(after: fault, with: HeldKey())
        _ = try Vault.setAside(at: desk.path, after: fault, with: [desk.key])
        #expect(try !desk.files().contains("vault.db"))
    }

    @Test("a vault that is not damaged is never set aside, whatever keeps it from opening")
    func sound() async throws {
        try await desk.fill((token, "a"))
        for fault in VaultError.examples where !["vault.file-damaged", "vault.manifest-damaged"].contains(fault.code) {
            try expectToStay(after: fault, with: desk.key)
        }
    }
}
