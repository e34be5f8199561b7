import COpenSSL
import Cryptography
import Testing

@Suite("Secrets for the owner of a private key")
struct KeyAgreementTests {
    @Test("agreed secrets of two agreements with one key differ, and so do their points")
    func agreement() throws {
        let recipient = try PrivateKey(generating: .p256).publicKey
        let (first, second) = (
            try KeyAgreement.withEphemeralKey(for: recipient), try KeyAgreement.withEphemeralKey(for: recipient)
        )
        #expect(first.secret.count == 32 && first.secret != second.secret)
        #expect(first.point != second.point && first.point != recipient.p256Point)
        #expect(try PublicKey(p256Point: first.point).p256Point == first.point)
    }

    @Test("agreed secrets are made for keys of the right kind only")
    func kinds() throws {
        let (rsa, p256) = (
            try PrivateKey(generating: .rsa(bits: 2048)).publicKey, try PrivateKey(generating: .p256).publicKey
        )
        #expect(throws: CryptographyError.unsuitableKey(reason: "it is RSA of 2048 bits")) {
            try KeyAgreement.withEphemeralKey(for: rsa)
        }
        #expect(throws: CryptographyError.unsuitableKey(reason: "it is EC of 256 bits")) {
            try KeyAgreement.encryptOAEP(SecretBytes([1]), for: p256)
        }
        let secret = try SecretBytes.random(214)
        let (first, second) = (
            try KeyAgreement.encryptOAEP(secret, for: rsa), try KeyAgreement.encryptOAEP(secret, for: rsa)
        )
        #expect(first.count == 256 && first != second)
        let long = try SecretBytes.random(215)
        #expect(throws: CryptographyError.self) { try KeyAgreement.encryptOAEP(long, for: rsa) }
        #expect(ERR_peek_error() == 0)
    }

    @Test("agreed secrets have points that are read only in full and on the curve")
    func points() throws {
        let point = try #require(try PrivateKey(generating: .p256).publicKey.p256Point)
        #expect(point.count == PublicKey.p256PointBytes && point[0] == 4)
        var beside = point
        beside[64] ^= 1
        let (short, compressed) = (Array(point.dropLast()), [2] + Array(point.dropFirst()))
        let wrong: [[UInt8]] = [beside, short, point + [0], compressed, [], [0]]
        for wrong in wrong {
            #expect(throws: CryptographyError.self) { try PublicKey(p256Point: wrong) }
        }
        #expect(try PrivateKey(generating: .rsa(bits: 2048)).publicKey.p256Point == nil)
    }
}
