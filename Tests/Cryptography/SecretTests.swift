import Cryptography
import Groundwork
import Testing

@Suite("Secrets")
struct SecretTests {
    @Test("secrets are equal by their bytes alone")
    func equality() {
        #expect(SecretBytes([1, 2, 3]) == SecretBytes([1, 2, 3]))
        #expect(SecretBytes([1, 2, 3]) != SecretBytes([1, 2, 4]))
        #expect(SecretBytes([1, 2, 3]) != SecretBytes([1, 2]))
        #expect(SecretBytes([UInt8]()) == SecretBytes(utf8: ""))
    }

    @Test("secrets give their bytes only to code that asks for them")
    func exposure() {
        let secret = SecretBytes(utf8: "open sesame")
        #expect(secret.exposedText() == "open sesame")
        #expect(secret.exposed() == Array("open sesame".utf8))
        #expect(secret.withUnsafeBytes { $0.count } == secret.count)
        var shown = "\(secret) \(String(reflecting: secret))"
        dump(secret, to: &shown)
        #expect(!shown.contains("sesame"))
        #expect(!shown.contains("111"))
    }

    @Test("random secrets differ and have the length asked for")
    func random() throws {
        #expect(try SecretBytes.random(32).count == 32)
        #expect(try SecretBytes.random(32) != SecretBytes.random(32))
        #expect(try Random.bytes(0) == [])
        #expect(try Random.bytes(32) != Random.bytes(32))
    }

    @Test("wiped secrets are gone from the memory they were in")
    func wiping() {
        var bytes = [UInt8](repeating: 0xA5, count: 64)
        // The storage stays the array's own when it is emptied.
        let storage = bytes.withUnsafeBytes { $0 }
        wipe(&bytes)
        #expect(bytes.isEmpty)
        #expect(storage.allSatisfy { $0 == 0 })
        #expect(bytes.capacity >= 64)
    }

    @Test("secrets are compared in constant time by content and length")
    func constantTime() {
        #expect(equalInConstantTime([1, 2], [1, 2]))
        #expect(!equalInConstantTime([1, 2], [1, 3]))
        #expect(!equalInConstantTime([1, 2], [1, 2, 0]))
        #expect(equalInConstantTime([UInt8](), [UInt8]()))
    }

    @Test("random UUIDs are of version 4, variant 1, in lower case and never the same")
    func uuid() throws {
        let uuids = try (0..<64).map { _ in try Random.uuid() }
        #expect(Set(uuids).count == uuids.count)
        for uuid in uuids {
            #expect(uuid.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        }
    }
}
