import COpenSSL
import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Cryptography

@Suite("TLS with a foreign key", .timeLimit(.minutes(5)))
struct ForeignKeyTLSTests {
    private static let algorithms: [PrivateKey.Algorithm] = [.rsa(bits: 2048), .p256]

    /// What a server offers, and how the key is then asked.
    struct Case {
        let version: String
        /// What the server takes of clients.
        let algorithms: String
        let key: PrivateKey.Algorithm
        let scheme: UnsignedDigest.Scheme
    }

    static let cases = [
        Case(version: "-tls1_2", algorithms: "RSA+SHA256", key: .rsa(bits: 2048), scheme: .pkcs1),
        Case(
            version: "-tls1_2", algorithms: "rsa_pss_rsae_sha256", key: .rsa(bits: 2048), scheme: .pss(saltBytes: 32)),
        Case(version: "-tls1_2", algorithms: "ECDSA+SHA256", key: .p256, scheme: .ecdsa),
        // What the server prefers is not what the key does.
        Case(
            version: "-tls1_3", algorithms: "rsa_pss_rsae_sha512:rsa_pss_rsae_sha256", key: .rsa(bits: 2048),
            scheme: .pss(saltBytes: 32)),
        Case(version: "-tls1_3", algorithms: "ECDSA+SHA256", key: .p256, scheme: .ecdsa),
    ]

    private static func selfSigned(_ key: PrivateKey) throws -> Certificate {
        try CertificateTemplate(
            subject: DistinguishedName([(.commonName, "board")]), notBefore: Date() - 60, notAfter: Date() + 60,
            usage: [.client]
        ).issue(for: key.publicKey, by: nil, signedWith: key)
    }

    @Test("TLS with a foreign key is mutual with openssl s_server, with the salt of TLS", arguments: cases)
    func mutual(of this: Case) throws {
        let server = try CommandServer(
            try TemporaryFolder(), key: ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"],
            options: ["-Verify", "1", "-verify_return_error", this.version, "-client_sigalgs", this.algorithms])
        let real = try PrivateKey(generating: this.key)
        let software = try SoftwareKey(real)
        let client = TLSIdentity(
            key: try PrivateKey(foreign: software, publicKey: real.publicKey), chain: [try Self.selfSigned(real)])
        try server.start(believing: client.chain[0])
        let trust = ServerTrust(host: "localhost", pins: [PublicKeyPin(of: server.certificate.publicKey)])
        let context = try TLSContext(trust: trust, identity: client)
        #expect(try server.answers(context))
        #expect(context.lastSigningFailure == nil)
        #expect(software.asked.map(\.scheme) == [this.scheme])
        #expect(software.asked.map(\.hash) == [.sha256])
    }

    @Test(
        "TLS with a foreign key that fails, or signs wrongly, ends the handshake, and the context says why",
        arguments: algorithms, [TLS1_2_VERSION, TLS1_3_VERSION])
    func faults(algorithm: PrivateKey.Algorithm, version: Int32) throws {
        let authority = try TestAuthority()
        var asking = Handshake.Server(try authority.server())
        asking.clientAuthority = authority.root
        asking.newestVersion = version
        let real = try PrivateKey(generating: algorithm)
        let leaf = try TestAuthority.template("board").issue(
            for: real.publicKey, by: authority.root, signedWith: authority.rootKey)
        for fault in SoftwareKey.Fault.allCases {
            let identity = TLSIdentity(key: try real.elsewhere(fault), chain: [leaf])
            let context = try TLSContext(trust: .test(anchors: [authority.root]), identity: identity)
            #expect(context.lastSigningFailure == nil)
            let handshake = try Handshake(context.handle, with: asking)
            #expect(!handshake.clientFinished && !handshake.serverFinished)
            #expect(context.lastRefusal == nil)
            let message = try #require(context.lastSigningFailure).message
            #expect(
                message
                    == (fault == .absent
                        ? "cannot sign: the token is not there"
                        : "cannot sign: the signature of the private key is not valid"))
            // Another context has a record of its own.
            #expect(identity.key.foreign?.failure == nil)
        }
    }

    /// Takes the longest salt there is room for, whatever it is asked, as chips do (tpm2-openssl 114).
    private struct LongSalt: ForeignKey {
        let key: SoftwareKey

        func sign(_ digest: UnsignedDigest) throws -> [UInt8] {
            try key.sign(UnsignedDigest(digest.bytes, by: digest.hash, .pss(saltBytes: 222)))
        }
    }

    @Test("TLS with a foreign key that takes a longer salt than TLS 1.3 allows ends before the server sees it")
    func longSalt() throws {
        let authority = try TestAuthority()
        var asking = Handshake.Server(try authority.server())
        asking.clientAuthority = authority.root
        let real = try PrivateKey(generating: .rsa(bits: 2048))
        let leaf = try TestAuthority.template("board").issue(
            for: real.publicKey, by: authority.root, signedWith: authority.rootKey)
        let key = try PrivateKey(foreign: LongSalt(key: SoftwareKey(real)), publicKey: real.publicKey)
        let context = try TLSContext(
            trust: .test(anchors: [authority.root]), identity: TLSIdentity(key: key, chain: [leaf]))
        #expect(try !Handshake(context.handle, with: asking).serverFinished)
        let invalid = CryptographyError.signatureInvalid(.privateKey).explanation
        #expect(context.lastSigningFailure == .foreignKey(invalid))
    }

    @Test("TLS with a foreign key leaves no error behind when it is set up")
    func quiet() throws {
        for algorithm in Self.algorithms {
            let real = try PrivateKey(generating: algorithm)
            ERR_clear_error()
            _ = try TLSContext(
                trust: .test(pins: [real.publicKey]),
                identity: TLSIdentity(key: real.elsewhere(), chain: [Self.selfSigned(real)]))
            #expect(ERR_peek_error() == 0)
        }
    }
}
