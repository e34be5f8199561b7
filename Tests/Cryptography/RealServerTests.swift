import Cryptography
import Foundation
import Testing

/// Against the server of the `openssl` command, over TCP on loopback.
@Suite("TLS with openssl s_server", .timeLimit(.minutes(5)))
struct RealServerTests {
    @Test("TLS with openssl s_server is mutual, with an RSA key of 2048 bits on each side")
    func mutual() throws {
        let folder = try TemporaryFolder()
        let server = try CommandServer(folder, key: ["rsa:2048"], options: ["-Verify", "2", "-verify_return_error"])
        let key = try PrivateKey(generating: .rsa(bits: 2048))
        let template = CertificateTemplate(
            subject: DistinguishedName([(.commonName, "board")]), notBefore: Date() - 60, notAfter: Date() + 60,
            usage: [.client])
        let client = TLSIdentity(
            key: key, chain: [try template.issue(for: key.publicKey, by: nil, signedWith: key)])
        try server.start(believing: client.chain[0])
        let pinned = ServerTrust(host: "localhost", pins: [PublicKeyPin(of: server.certificate.publicKey)])
        let context = try TLSContext(trust: pinned, identity: client)
        #expect(try server.answers(context))
        #expect(context.lastRefusal == nil)
        // Without the certificate the server ends the connection.
        #expect(try !server.answers(TLSContext(trust: pinned, identity: nil)))
    }

    @Test("TLS with openssl s_server is refused for a key of 1024 bits, although it is pinned")
    func weak() throws {
        let folder = try TemporaryFolder()
        let server = try CommandServer(folder, key: ["rsa:1024"], options: ["-cipher", "ALL:@SECLEVEL=0"])
        try server.start(believing: nil)
        let trust = ServerTrust(host: "localhost", pins: [PublicKeyPin(of: server.certificate.publicKey)])
        let context = try TLSContext(trust: trust, identity: nil)
        #expect(try !server.answers(context))
        #expect(context.lastRefusal == .weak(reason: "EE certificate key too weak"))
    }

    @Test("TLS with openssl s_server is refused for a date that is over by the system's clock")
    func expired() throws {
        let folder = try TemporaryFolder()
        let server = try CommandServer(folder, key: ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], options: [])
        try server.start(believing: nil)
        let trust = ServerTrust(host: "localhost", anchors: [server.certificate], judgedAt: { Date() + 3 * 86_400 })
        let context = try TLSContext(trust: trust, identity: nil)
        #expect(try !server.answers(context))
        #expect(context.lastRefusal == .expired(server.certificate.notAfter))
    }
}
