import Cryptography
import Foundation
import Testing

@Suite("Server trust by anchors")
struct ServerTrustTests {
    private let authority: TestAuthority
    private let server: TLSIdentity

    init() throws {
        authority = try TestAuthority()
        server = try authority.server(dnsNames: ["localhost", "*.example.org"], ipAddresses: ["127.0.0.1", "::1"])
    }

    @Test("trust by anchors believes a chain that ends at a root, an intermediate or its own certificate")
    func anchors() throws {
        for anchor in [authority.root, authority.intermediate, server.chain[0]] {
            #expect(try ServerTrust.test(anchors: [anchor]).refusal(of: server) == nil)
        }
    }

    @Test("trust without an anchor or a pin refuses every server")
    func nothing() throws {
        let refusal = try ServerTrust.test().refusal(of: server)
        #expect(refusal == .untrusted(reason: "no anchor and no pin is configured"))
    }

    @Test("trust by anchors refuses a server of another authority of the same name")
    func otherAuthority() throws {
        let other = try TestAuthority()
        guard case .untrusted = try ServerTrust.test(anchors: [other.root]).refusal(of: server) else {
            Issue.record("was not refused as untrusted")
            return
        }
    }

    @Test("trust by anchors refuses a server that leaves out its intermediate")
    func incompleteChain() throws {
        let alone = TLSIdentity(key: server.key, chain: [server.chain[0]])
        guard case .untrusted = try ServerTrust.test(anchors: [authority.root]).refusal(of: alone) else {
            Issue.record("was not refused as untrusted")
            return
        }
    }

    @Test(
        "trust by anchors believes the host names and addresses of the certificate",
        arguments: [
            "localhost", "LOCALHOST", "a.example.org", "127.0.0.1", "::1", "[::1]", "0:0:0:0:0:0:0:1",
        ])
    func hosts(host: String) throws {
        #expect(try ServerTrust.test(host: host, anchors: [authority.root]).refusal(of: server) == nil)
    }

    @Test(
        "trust by anchors refuses other hosts",
        arguments: [
            "example.org", "a.b.example.org", "localhost.example.com", "127.0.0.2", "::2", "server",
        ])
    func otherHosts(host: String) throws {
        let trust = ServerTrust.test(host: host, anchors: [authority.root])
        #expect(try trust.refusal(of: server) == .hostMismatch(host: host))
    }

    @Test("trust by anchors takes no common name for a host and no part of a label for a wildcard")
    func strictNames() throws {
        let unnamed = try authority.server(name: "localhost", dnsNames: [])
        let partial = try authority.server(dnsNames: ["local*.example.org"])
        #expect(
            try ServerTrust.test(anchors: [authority.root]).refusal(of: unnamed) == .commonNameOnly(host: "localhost"))
        #expect(TLSRefusal.commonNameOnly(host: "localhost").remedy?.contains("name_check = \"common-name\"") == true)
        #expect(
            try ServerTrust.test(host: "other", anchors: [authority.root]).refusal(of: unnamed)
                == .hostMismatch(host: "other"))
        let address = try authority.server(name: "127.0.0.1", dnsNames: [])
        #expect(
            try ServerTrust.test(host: "127.0.0.1", anchors: [authority.root]).refusal(of: address)
                == .hostMismatch(host: "127.0.0.1"))
        #expect(
            try ServerTrust.test(host: "localhost.example.org", anchors: [authority.root]).refusal(of: partial)
                == .hostMismatch(host: "localhost.example.org"))
    }

    @Test("trust by anchors believes any host where the name is not checked, and still wants the chain")
    func uncheckedHost() throws {
        #expect(
            try ServerTrust.test(host: "other", anchors: [authority.root], checksHostName: false)
                .refusal(of: server) == nil)
        #expect(try ServerTrust.test(host: "other", checksHostName: false).refusal(of: server) != nil)
    }

    @Test("trust by anchors cannot be made for an invalid host", arguments: ["", "a b", "a\u{0}b", "bücher.example"])
    func badHosts(host: String) {
        #expect(throws: CryptographyError.self) {
            try TLSContext(trust: .test(host: host, anchors: [authority.root]), identity: nil)
        }
    }

    @Test("trust by anchors refuses a certificate before and after its dates, and says which date")
    func dates() throws {
        let (start, end) = (TestAuthority.now - 60, TestAuthority.now + 60)
        let server = try authority.server(from: start, to: end)
        func refusal(at date: Date) throws -> TLSRefusal? {
            var trust = ServerTrust.test(anchors: [authority.root])
            trust.judgedAt = { date }
            return try trust.refusal(of: server)
        }
        #expect(try refusal(at: start - 1) == .notYetValid(start))
        #expect(try refusal(at: start + 1) == nil)
        #expect(try refusal(at: end + 1) == .expired(end))
    }

    @Test("trust by anchors judges at the system's clock when no other time is given")
    func systemClock() throws {
        var trust = ServerTrust.test(anchors: [authority.root])
        trust.judgedAt = nil
        #expect(try trust.refusal(of: server) == .notYetValid(authority.root.notBefore))
    }

    @Test("trust by anchors refuses a client's certificate, and one that a server issued itself")
    func wrongUse() throws {
        let client = try authority.server(usage: [.client])
        guard case .untrusted = try ServerTrust.test(anchors: [authority.root]).refusal(of: client) else {
            Issue.record("a client's certificate was not refused as untrusted")
            return
        }
        let key = try PrivateKey(generating: .p256)
        var template = TestAuthority.template("below a leaf")
        template.dnsNames = ["localhost"]
        let below = try template.issue(for: key.publicKey, by: server.chain[0], signedWith: server.key)
        let chain = TLSIdentity(key: key, chain: [below] + server.chain)
        guard case .untrusted = try ServerTrust.test(anchors: [authority.root]).refusal(of: chain) else {
            Issue.record("a certificate of a server was not refused as untrusted")
            return
        }
    }

    @Test("trust by anchors looks at ten certificates and no more")
    func longChain() throws {
        let trust = ServerTrust.test(anchors: [authority.root])
        let ten = TLSIdentity(key: server.key, chain: server.chain + Array(repeating: authority.root, count: 8))
        let eleven = TLSIdentity(key: server.key, chain: server.chain + Array(repeating: authority.root, count: 9))
        #expect(try trust.refusal(of: ten) == nil)
        #expect(try trust.refusal(of: eleven) == .chainTooLong(limit: 10))
    }

    @Test("trust takes the system's authorities when asked to, with given anchors or without")
    func publicAnchors() async throws {
        await #expect(processExitsWith: .success) {
            // In a process of its own, as the environment belongs to all tests.
            let (authority, other) = (try TestAuthority(), try TestAuthority())
            let folder = try TemporaryFolder()
            setenv("SSL_CERT_FILE", try folder.write(authority.root.pem, as: "root.pem"), 1)
            let server = try authority.server()
            var trust = ServerTrust.test()
            trust.usesPublicAnchors = true
            try #require(try trust.refusal(of: server) == nil)
            try #require(try trust.refusal(of: other.server()) != nil)
            trust.anchors = [other.root]
            try #require(try trust.refusal(of: server) == nil)
            try #require(try trust.refusal(of: other.server()) == nil)
            trust.pins = [PublicKeyPin(of: other.root.publicKey)]
            try #require(try trust.refusal(of: server) == .pinMismatch)
        }
    }
}
