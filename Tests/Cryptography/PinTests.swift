import Cryptography
import Foundation
import Testing

@Suite("Server trust by pins (MAG 1.4)")
struct PinTests {
    private let authority: TestAuthority
    private let server: TLSIdentity
    /// The same, with the root sent along.
    private let fullServer: TLSIdentity

    init() throws {
        authority = try TestAuthority()
        server = try authority.server()
        fullServer = TLSIdentity(key: server.key, chain: server.chain + [authority.root])
    }

    @Test("trust by pins believes a chain of which any element fits")
    func anyElement() throws {
        for key in [server.chain[0].publicKey, authority.intermediate.publicKey, authority.root.publicKey] {
            #expect(try ServerTrust.test(pins: [key]).refusal(of: fullServer) == nil)
        }
        #expect(
            try ServerTrust.test(pins: [authority.root.publicKey, server.key.publicKey]).refusal(of: server) == nil)
    }

    @Test("trust by pins believes a certificate that is signed by itself")
    func selfSigned() throws {
        let key = try PrivateKey(generating: .p256)
        var template = TestAuthority.template("self")
        template.dnsNames = ["localhost"]
        let identity = TLSIdentity(
            key: key, chain: [try template.issue(for: key.publicKey, by: nil, signedWith: key)])
        #expect(try ServerTrust.test(pins: [key.publicKey]).refusal(of: identity) == nil)
        #expect(try ServerTrust.test(pins: [server.key.publicKey]).refusal(of: identity) == .pinMismatch)
    }

    @Test("trust by pins refuses a chain of which none fits, even if an unsent root would fit")
    func noElement() throws {
        let other = try PrivateKey(generating: .p256).publicKey
        #expect(try ServerTrust.test(pins: [other]).refusal(of: fullServer) == .pinMismatch)
        #expect(try ServerTrust.test(pins: [authority.root.publicKey]).refusal(of: server) == .pinMismatch)
    }

    @Test("trust by pins does not believe a pinned certificate that a stranger sends along")
    func stapled() throws {
        let stranger = try TestAuthority()
        let identity = try stranger.server(name: "stranger")
        for pinned in [authority.intermediate, server.chain[0]] {
            let trust = ServerTrust.test(pins: [pinned.publicKey])
            for chain in [identity.chain + [pinned], [identity.chain[0], pinned]] {
                let refusal = try trust.refusal(of: TLSIdentity(key: identity.key, chain: chain))
                #expect(refusal != nil)
            }
        }
        // Names of its own, so that nothing in the stranger's chain even claims to come from the pinned one.
        let key = try PrivateKey(generating: .p256)
        var template = TestAuthority.template("lone")
        template.dnsNames = ["localhost"]
        let lone = try template.issue(for: key.publicKey, by: nil, signedWith: key)
        #expect(
            try ServerTrust.test(pins: [authority.intermediate.publicKey])
                .refusal(of: TLSIdentity(key: key, chain: [lone, authority.intermediate])) == .pinMismatch)
    }

    @Test("trust by pins does not believe a leaf that only claims to be issued by the pinned one")
    func forged() throws {
        let (key, forger) = (try PrivateKey(generating: .p256), try PrivateKey(generating: .p256))
        var template = TestAuthority.template("forged")
        template.dnsNames = ["localhost"]
        // The issuer's name and key identifier are right, the signature is another's.
        let leaf = try template.issue(for: key.publicKey, by: authority.intermediate, signedWith: forger)
        let refusal = try ServerTrust.test(pins: [authority.intermediate.publicKey])
            .refusal(of: TLSIdentity(key: key, chain: [leaf, authority.intermediate]))
        guard case .untrusted = refusal else {
            Issue.record("was \(String(describing: refusal)), not untrusted")
            return
        }
    }

    @Test("trust by pins does not let a pinned server certificate issue others")
    func leafAsAuthority() throws {
        let key = try PrivateKey(generating: .p256)
        var template = TestAuthority.template("below")
        template.dnsNames = ["localhost"]
        let below = try template.issue(for: key.publicKey, by: server.chain[0], signedWith: server.key)
        #expect(
            try ServerTrust.test(pins: [server.key.publicKey])
                .refusal(of: TLSIdentity(key: key, chain: [below] + server.chain)) != nil)
    }

    @Test("trust by pins still judges host and dates")
    func hostAndDates() throws {
        let pins = [authority.intermediate.publicKey, server.key.publicKey]
        #expect(try ServerTrust.test(host: "other", pins: pins).refusal(of: server) == .hostMismatch(host: "other"))
        for key in pins {
            var trust = ServerTrust.test(pins: [key])
            trust.judgedAt = { TestAuthority.now + 2 * TestAuthority.day }
            #expect(try trust.refusal(of: server) == .expired(server.chain[0].notAfter))
            trust.judgedAt = { TestAuthority.now - 2 * TestAuthority.day }
            #expect(try trust.refusal(of: server) == .notYetValid(server.chain[0].notBefore))
        }
    }

    @Test("trust by pins without the host name believes the server's own key only, not its authority's")
    func uncheckedHost() throws {
        func refusal(_ pin: PublicKey, anchors: [Certificate] = []) throws -> TLSRefusal? {
            try ServerTrust.test(host: "192.0.2.1", anchors: anchors, pins: [pin], checksHostName: false).refusal(
                of: fullServer)
        }
        for anchors in [[], [authority.root]] {
            #expect(try refusal(server.key.publicKey, anchors: anchors) == nil)
            for key in [authority.intermediate.publicKey, authority.root.publicKey] {
                #expect(try refusal(key, anchors: anchors) == .pinMismatch)
            }
        }
    }

    @Test("trust by pins and anchors wants both")
    func both() throws {
        let other = try TestAuthority()
        let root = authority.root
        // The root fits though it was not sent: it is part of the verified path.
        for key in [root.publicKey, authority.intermediate.publicKey, server.key.publicKey] {
            #expect(try ServerTrust.test(anchors: [root], pins: [key]).refusal(of: server) == nil)
        }
        #expect(try ServerTrust.test(anchors: [root], pins: [other.root.publicKey]).refusal(of: server) == .pinMismatch)
        #expect(try ServerTrust.test(anchors: [other.root], pins: [server.key.publicKey]).refusal(of: server) != nil)
    }

    @Test("trust by pins and anchors does not count what is sent along outside the verified path")
    func outsideThePath() throws {
        let other = try TestAuthority()
        let padded = TLSIdentity(key: server.key, chain: server.chain + [other.intermediate])
        let trust = ServerTrust.test(anchors: [authority.root], pins: [other.intermediate.publicKey])
        #expect(try trust.refusal(of: padded) == .pinMismatch)
    }
}
