import Cryptography
import Groundwork
import Testing

@Suite("AES-256-GCM")
struct SealTests {
    private static let key = SecretBytes([UInt8](repeating: 7, count: 32))

    @Test(
        "AES-256-GCM opens the test cases 13, 14 and 16 of the GCM specification",
        arguments: [
            (
                String(repeating: "00", count: 32), "000000000000000000000000", "", "530f8afbc74536b9a963b4f1c4cb738b",
                "", ""
            ),
            (
                String(repeating: "00", count: 32), "000000000000000000000000", "cea7403d4d606b6e074ec5d3baf39d18",
                "d0d1c8a799996bf0265b98b5d48ab919", "", "00000000000000000000000000000000"
            ),
            (
                "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                    + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
                "76fc6ece0f4e1768cddf8853bb2d551b", "feedfacedeadbeeffeedfacedeadbeefabaddad2",
                "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                    + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
            ),
        ])
    func vectors(
        key: String, nonce: String, ciphertext: String, tag: String, additional: String, plaintext: String
    ) throws {
        let opened = try AESGCM.open(
            Hex.decode(nonce + ciphertext + tag)!, key: SecretBytes(Hex.decode(key)!),
            authenticating: Hex.decode(additional)!)
        #expect(Hex.encode(opened.exposed()) == plaintext)
    }

    @Test("AES-256-GCM opens what it sealed", arguments: [0, 1, 15, 16, 17, 100_000])
    func roundTrip(count: Int) throws {
        let plaintext = try SecretBytes.random(count)
        let sealed = try AESGCM.seal(plaintext, key: Self.key, authenticating: [1, 2, 3])
        #expect(sealed.count == count + 28)
        #expect(try AESGCM.open(sealed, key: Self.key, authenticating: [1, 2, 3]) == plaintext)
    }

    @Test("AES-256-GCM never seals twice with the same nonce")
    func nonces() throws {
        let nonces = try (0..<100).map { _ in
            Array(try AESGCM.seal(SecretBytes([0]), key: Self.key, authenticating: []).prefix(12))
        }
        #expect(Set(nonces).count == 100)
    }

    @Test("AES-256-GCM refuses a flipped bit in any byte")
    func flippedBit() throws {
        let sealed = try AESGCM.seal(SecretBytes(utf8: "secret"), key: Self.key, authenticating: [9])
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: CryptographyError.notAuthentic) {
                try AESGCM.open(changed, key: Self.key, authenticating: [9])
            }
        }
    }

    @Test("AES-256-GCM refuses another key, other additional data and a text cut short")
    func wrongSurroundings() throws {
        let sealed = try AESGCM.seal(SecretBytes(utf8: "secret"), key: Self.key, authenticating: [9])
        #expect(throws: CryptographyError.notAuthentic) {
            try AESGCM.open(sealed, key: SecretBytes([UInt8](repeating: 8, count: 32)), authenticating: [9])
        }
        #expect(throws: CryptographyError.notAuthentic) { try AESGCM.open(sealed, key: Self.key, authenticating: []) }
        #expect(throws: CryptographyError.notAuthentic) {
            try AESGCM.open(Array(sealed.dropLast()), key: Self.key, authenticating: [9])
        }
        #expect(throws: CryptographyError.malformed(.sealedText, reason: "it is truncated")) {
            try AESGCM.open(Array(sealed.prefix(27)), key: Self.key, authenticating: [9])
        }
    }

    @Test("AES-256-GCM takes keys of 32 bytes only", arguments: [0, 16, 31, 33])
    func keyLength(count: Int) {
        #expect(throws: CryptographyError.self) {
            try AESGCM.seal(SecretBytes([1]), key: SecretBytes([UInt8](repeating: 0, count: count)), authenticating: [])
        }
    }
}
