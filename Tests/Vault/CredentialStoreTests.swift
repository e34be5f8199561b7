import Cryptography
import Foundation
import Groundwork
import Testing

@testable import Vault

@Suite("Credentials of programs")
struct CredentialStoreTests {
    let desk = try! Desk()  // Without a temporary directory there is nothing to test.

    private func credential(_ level: LevelName = .whenUnlockedThisDeviceOnly) -> Credential {
        Credential(user: "alice", value: .text(SecretBytes(utf8: "s3cret")), tenant: "plant", level: level)
    }

    @Test("credentials are added, read, updated, listed, emptied and forgotten, for one user ID each (checklist 174)")
    func operations() async throws {
        var vault = try await desk.open()
        var store = CredentialStore(vault)
        try await store.put(credential(), as: "key", isNew: true, of: 1000)
        await #expect(throws: ObjectError.exists(name: "key")) {
            try await store.put(credential(), as: "key", isNew: true, of: 1000)
        }
        await vault.close()
        vault = try await desk.open(creating: false)
        store = CredentialStore(vault)
        #expect(try await store.get("key", of: 1000) == credential())
        await #expect(throws: ObjectError.notFound(name: "key")) { try await store.get("key", of: 1001) }

        let property = Credential.Property(value: "7", label: "Floor", description: "where it hangs")
        try await store.setProperty("floor", to: property, of: "key", of: 1000)
        var other = credential()
        (other.user, other.tenant, other.value) = ("bob", nil, .bytes(SecretBytes([0, 255])))
        try await store.put(other, as: "key", of: 1000)
        other.properties = ["floor": property]
        #expect(try await store.get("key", of: 1000) == other)
        #expect(try await store.list(of: 1000) == [CredentialStore.Entry(name: "key", credential: other)])
        try await store.setProperty("floor", to: nil, of: "key", of: 1000)
        #expect(try await store.get("key", of: 1000).properties.isEmpty)
        await #expect(throws: ObjectError.notFound(name: "floor")) {
            try await store.setProperty("floor", to: nil, of: "key", of: 1000)
        }

        try await store.delete("key", of: 1000)
        #expect(try await store.get("key", of: 1000).isEmpty)
        try await store.put(credential(), as: "key", isNew: true, of: 1000)
        try await store.forget("key", of: 1000)
        await #expect(throws: ObjectError.notFound(name: "key")) { try await store.get("key", of: 1000) }
        await #expect(throws: ObjectError.notFound(name: "key")) { try await store.delete("key", of: 1000) }
        await #expect(throws: ObjectError.notFound(name: "key")) { try await store.forget("key", of: 1000) }
        #expect(try await store.list(of: 1000).isEmpty)
    }

    @Test("keys are 1 to 255 bytes of any text in one line, and no two of them share a credential")
    func names() async throws {
        let store = CredentialStore(try await desk.open())
        let names = [
            "a", "software:device", "=a", "#a", " ", "schl\u{FC}ssel", "schlu\u{308}ssel", "\u{1F511}",
            String(repeating: "a", count: 254), String(repeating: "a", count: 255),
        ]
        for (number, name) in names.enumerated() {
            try await store.put(Credential(user: "\(number)", level: .always), as: name, isNew: true, of: 1000)
        }
        for (number, name) in names.enumerated() {
            #expect(try await store.get(name, of: 1000).user == "\(number)")
        }
        #expect(try await Set(store.list(of: 1000).map { Array($0.name.utf8) }) == Set(names.map { Array($0.utf8) }))
        for name in ["", String(repeating: "a", count: 256), "a\nb", "a/b", "a\u{2028}", "\0", "\u{7F}"] {
            await #expect(throws: ObjectError.nameNotAllowed) {
                try await store.put(credential(), as: name, of: 1000)
            }
            await #expect(throws: ObjectError.nameNotAllowed) { try await store.get(name, of: 1000) }
        }
    }

    @Test("values, texts, properties and keys are limited in size and number")
    func limits() async throws {
        let store = CredentialStore(try await desk.open())
        func value(_ count: Int) -> Credential {
            Credential(value: .bytes(SecretBytes([UInt8](repeating: 7, count: count))), level: .always)
        }
        try await store.put(value(Credential.valueLimit), as: "key", of: 1000)
        await #expect(throws: FormatError.tooLong) {
            try await store.put(value(Credential.valueLimit + 1), as: "key", of: 1000)
        }
        await #expect(throws: FormatError.tooLong) {
            let long = Credential(user: String(repeating: "a", count: 1025), level: .always)
            try await store.put(long, as: "key", of: 1000)
        }
        for number in 0..<Credential.propertyLimit {
            try await store.setProperty("\(number)", to: .init(value: ""), of: "key", of: 1000)
        }
        await #expect(throws: ObjectError.full(limit: Credential.propertyLimit)) {
            try await store.setProperty("another", to: .init(value: ""), of: "key", of: 1000)
        }
        for number in 1..<CredentialStore.countLimit {
            try await store.put(Credential(level: .always), as: "\(number)", of: 1000)
        }
        await #expect(throws: ObjectError.full(limit: CredentialStore.countLimit)) {
            try await store.put(Credential(level: .always), as: "another", of: 1000)
        }
        try await store.put(credential(), as: "another", of: 1001)
    }

    @Test("levels are read by their six names and the ends of these, and other names refused (checklist 175)")
    func levelNames() throws {
        for level in LevelName.allCases {
            #expect(try LevelName(parsing: level.rawValue) == level)
            #expect(try LevelName(parsing: String(level.rawValue.dropFirst("KeychainDataAccessible".count))) == level)
        }
        for name in ["", "always", "KeychainDataAccessible", "WhenPasscodeSetThisDeviceOnly"] {
            #expect(throws: ObjectError.unknownLevel) { try LevelName(parsing: name) }
        }
        #expect(ObjectError.unknownLevel.number == 10530)
    }

    /// What a store can read in a state of the passcode.
    private func readable(_ vault: Vault) async throws -> Set<LevelName> {
        let store = CredentialStore(vault)
        var readable: Set<LevelName> = []
        for level in LevelName.allCases {
            do {
                #expect(try await store.get(level.rawValue, of: 1000) == credential(level))
                readable.insert(level)
            } catch VaultError.levelLocked {}
        }
        #expect(try await store.list(of: 1000).count == 6)
        #expect(try await Set(store.list(of: 1000).compactMap { $0.credential?.level }) == readable)
        return readable
    }

    @Test("each level is readable locked, unlocked and after a restart as it says (checklist 175)")
    func levels() async throws {
        let bench = try PasscodeBench()
        let (vault, compartment) = try await bench.open()
        try await compartment.set(PasscodeBench.right)
        let store = CredentialStore(vault)
        for level in LevelName.allCases {
            try await store.put(credential(level), as: level.rawValue, of: 1000)
        }
        let always: Set<LevelName> = [.always, .alwaysThisDeviceOnly]
        let first = always.union([.afterFirstUnlock, .afterFirstUnlockThisDeviceOnly])
        #expect(try await readable(vault) == Set(LevelName.allCases))
        try await compartment.lock()
        #expect(try await readable(vault) == first)
        await #expect(throws: VaultError.levelLocked(path: vault.path, level: .unlocked)) {
            try await store.put(credential(), as: "another", of: 1000)
        }
        await vault.close()
        let (again, other) = try await bench.open()
        #expect(try await readable(again) == always)
        try await other.unlock(by: PasscodeBench.right)
        #expect(try await readable(again) == Set(LevelName.allCases))
        try await other.lock()
        try await CredentialStore(again).forget(LevelName.whenUnlocked.rawValue, of: 1000)
    }

    @Test("without a passcode every level is open; a first passcode closes those that are only open unlocked")
    func withoutPasscode() async throws {
        let vault = try await desk.open()
        let store = CredentialStore(vault)
        for level in LevelName.allCases {
            try await store.put(credential(level), as: level.rawValue, of: 1000)
        }
        #expect(try await readable(vault) == Set(LevelName.allCases))
        let compartment = Compartment(
            of: vault,
            personalRecords: { () async throws(VaultError) in try await CredentialStore(vault).personalRecords() },
            cost: ScryptCost(n: 2, r: 1, p: 1))
        try await compartment.set(PasscodeBench.right)
        try await compartment.lock()
        #expect(
            try await readable(vault)
                == Set(LevelName.allCases).subtracting([.whenUnlocked, .whenUnlockedThisDeviceOnly]))
    }

    @Test("credentials of this device only, and keys, are left out of a copy for another board (checklist 175)")
    func export() async throws {
        let vault = try await desk.open()
        for level in LevelName.allCases {
            try await CredentialStore(vault).put(credential(level), as: level.rawValue, of: 1000)
        }
        try await CryptoService(vault).makeKey("photos", of: 1000)
        _ = try await vault.export(
            to: desk.exportPath, passphrase: Desk.passphrase, withIdentity: false,
            identity: { _, kind, _ in CryptoService.isKey(kind) || CredentialStore.isThisDeviceOnly(kind) })
        let other = try Desk()
        let restored = try await other.restored(from: desk.exportPath)
        #expect(try await CryptoService(restored).keys(of: 1000).isEmpty)
        #expect(
            try await Set(CredentialStore(restored).list(of: 1000).map(\.name))
                == Set(LevelName.allCases.filter { !$0.isThisDeviceOnly }.map(\.rawValue)))
    }

    @Test("a record that is not a credential, or of another level than its kind, is found damaged")
    func damaged() async throws {
        let vault = try await desk.open()
        let (store, record) = (CredentialStore(vault), RecordName(scope: "credentials-1000", name: "=key"))
        let content = credential(.always).encoded(name: "key")
        for (kind, content) in [
            (RecordKind.state, content),
            (RecordKind(rawValue: "credential-" + LevelName.whenUnlocked.rawValue), content),
            (RecordKind(rawValue: "credential-" + LevelName.always.rawValue), SecretBytes(utf8: "{}")),
        ] {
            try await vault.commit([.put(record, kind, content)])
            await #expect(throws: ObjectError.damaged(name: "key")) { try await store.get("key", of: 1000) }
        }
        try await store.forget("key", of: 1000)
    }
}
