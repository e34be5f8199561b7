import Cryptography
import Groundwork
import Testing

@Suite("Key derivation")
struct DerivationTests {
    @Test(
        "SHA-256 is that of FIPS 180-4",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ])
    func sha256(message: String, digest: String) {
        #expect(Hex.encode(SHA256.hash(message.utf8)) == digest)
    }

    @Test(
        "HMAC-SHA-256 is that of RFC 4231 section 4",
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func hmac(key: [UInt8], message: [UInt8], code: String) {
        #expect(Hex.encode(HMAC.sha256(key: SecretBytes(key), message)) == code)
    }

    @Test(
        "HKDF is that of RFC 5869 appendix A",
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 22), Array(0x00...0x0C), Array(0xF0...0xF9),
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
            ),
            (
                Array(0x00...0x4F), Array(0x60...0xAF), Array(0xB0...0xFF),
                "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
                    + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
            ),
            (
                [UInt8](repeating: 0x0B, count: 22), [], [],
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
            ),
        ] as [([UInt8], [UInt8], [UInt8], String)])
    func hkdf(secret: [UInt8], salt: [UInt8], info: [UInt8], key: String) throws {
        let derived = try KeyDerivation.hkdf(secret: SecretBytes(secret), salt: salt, info: info, count: key.count / 2)
        #expect(Hex.encode(derived.exposed()) == key)
    }

    @Test("HKDF refuses an empty secret and lengths it cannot make")
    func hkdfBounds() {
        #expect(throws: CryptographyError.self) {
            try KeyDerivation.hkdf(secret: SecretBytes([UInt8]()), salt: [1], info: [], count: 32)
        }
        for count in [0, -1, 8161] {
            #expect(throws: CryptographyError.self) {
                try KeyDerivation.hkdf(secret: SecretBytes([1]), salt: [1], info: [], count: count)
            }
        }
    }

    @Test(
        "scrypt is that of RFC 7914 section 12",
        arguments: [
            (
                "", "", ScryptCost(n: 16, r: 1, p: 1),
                "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442"
                    + "fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
            ),
            (
                "password", "NaCl", ScryptCost(n: 1024, r: 8, p: 16),
                "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                    + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
            ),
            (
                "pleaseletmein", "SodiumChloride", ScryptCost(n: 16384, r: 8, p: 1),
                "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                    + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
            ),
        ])
    func scrypt(passphrase: String, salt: String, cost: ScryptCost, key: String) throws {
        let derived = try KeyDerivation.scrypt(
            passphrase: SecretBytes(utf8: passphrase), salt: Array(salt.utf8), cost: cost, count: 64)
        #expect(Hex.encode(derived.exposed()) == key)
    }

    @Test(
        "scrypt refuses a cost that is none, or that would take the board's memory",
        arguments: [
            ScryptCost(n: 1, r: 8, p: 1), ScryptCost(n: 1000, r: 8, p: 1), ScryptCost(n: 1024, r: 0, p: 1),
            ScryptCost(n: 1024, r: 8, p: 0), ScryptCost(n: -16, r: 8, p: 1), ScryptCost(n: 1 << 20, r: 8, p: 1),
            ScryptCost(n: .max, r: .max, p: .max), ScryptCost(n: 1024, r: 8, p: 1000),
        ])
    func scryptBounds(cost: ScryptCost) {
        #expect {
            try KeyDerivation.scrypt(passphrase: SecretBytes(utf8: "x"), salt: [1], cost: cost, count: 32)
        } throws: { error in
            (error as? CryptographyError)?.code == "cryptography.invalid-parameter"
        }
    }
}
