import Cryptography
import Testing

@testable import Vault

@Suite("Records of persons")
struct PersonalRecordTests {
    private let bench = try! PasscodeBench()  // Without a temporary directory there is nothing to test.

    @Test(
        "records of persons go behind the passcode with the first one, and nothing else does", arguments: [true, false])
    func personal(isDefault: Bool) async throws {
        let (vault, compartment) = try await bench.open()
        let names = (0..<70).map { RecordName(scope: "user", name: "record \($0)") }
        try await vault.commit(names.map { .putPersonal($0, .token, SecretBytes(utf8: $0.name)) })
        try await vault.put(token, "board")
        #expect(try await vault.text(names[0]) == "record 0")
        if isDefault { try await compartment.turnOff() }
        try await compartment.set(PasscodeBench.right)
        for name in names { #expect(try await vault.text(name) == name.name) }
        try await vault.commit([.putPersonal(names[1], .token, SecretBytes(utf8: "new"))])
        try await compartment.lock()
        #expect(try await vault.text(token) == "board")
        for name in names {
            await #expect(throws: VaultError.levelLocked(path: vault.path, level: .unlocked)) {
                try await vault.text(name)
            }
        }
        await #expect(throws: VaultError.levelLocked(path: vault.path, level: .unlocked)) {
            try await vault.commit([.putPersonal(names[2], .token, SecretBytes(utf8: "new"))])
        }
        try await compartment.unlock(by: PasscodeBench.right)
        #expect(try await vault.text(names[1]) == "new")
        try await compartment.erase()
        #expect(try await vault.names(scope: "user").isEmpty)
        try await vault.commit([.putPersonal(names[0], .token, SecretBytes(utf8: "again"))])
        #expect(try await vault.verify().faults == [])
    }

    @Test("a record that a power cut left outside goes behind the passcode with the next unlocking")
    func leftOutside() async throws {
        let (vault, compartment) = try await bench.filled()
        let name = RecordName(scope: "user", name: "token")
        try await vault.put(name, "secret")
        try await compartment.lock()
        #expect(try await vault.text(name) == "secret")
        try await compartment.unlock(by: PasscodeBench.right)
        try await compartment.lock()
        await #expect(throws: VaultError.levelLocked(path: vault.path, level: .unlocked)) { try await vault.text(name) }
    }
}
