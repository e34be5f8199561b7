import COpenSSL
import Cryptography
import Foundation
import Synchronization
import Testing

@Suite("TLS context")
struct TLSContextTests {
    private let authority: TestAuthority
    private let server: TLSIdentity

    init() throws {
        authority = try TestAuthority()
        server = try authority.server()
    }

    @Test(
        "a TLS context shows the client certificate with its chain to a server that asks",
        arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func mutual(version: Int32) throws {
        let client = try authority.client(name: "board")
        let context = try TLSContext(trust: .test(anchors: [authority.root]), identity: client)
        var asking = Handshake.Server(server)
        asking.clientAuthority = authority.root
        asking.newestVersion = version
        let handshake = try Handshake(context.handle, with: asking)
        #expect(handshake.clientFinished && handshake.serverFinished)
        #expect(handshake.clientChain.first == client.chain[0])
        #expect(handshake.clientChain.contains(authority.intermediate))
    }

    @Test("a TLS context that demands TLS 1.3 connects to no server of an older version")
    func minimum() throws {
        var trust = ServerTrust.test(anchors: [authority.root])
        trust.security.minimumTLS = .tls13
        let context = try TLSContext(trust: trust, identity: nil)
        var speaking = Handshake.Server(server)
        #expect(try Handshake(context.handle, with: speaking).clientFinished)
        speaking.newestVersion = TLS1_2_VERSION
        #expect(try !Handshake(context.handle, with: speaking).clientFinished)
    }

    @Test("a TLS context without an identity shows nothing, and a server that asks refuses")
    func anonymous() throws {
        let context = try TLSContext(trust: .test(anchors: [authority.root]), identity: nil)
        var asking = Handshake.Server(server)
        asking.clientAuthority = authority.root
        let handshake = try Handshake(context.handle, with: asking)
        #expect(!handshake.serverFinished)
        #expect(handshake.clientChain.isEmpty)
        #expect(context.lastRefusal == nil)
    }

    @Test("a TLS context shows no certificate to a server it refuses")
    func refusedFirst() throws {
        let context = try TLSContext(
            trust: .test(host: "other", anchors: [authority.root]), identity: authority.client(name: "board"))
        var asking = Handshake.Server(server)
        asking.clientAuthority = authority.root
        let handshake = try Handshake(context.handle, with: asking)
        #expect(handshake.clientChain.isEmpty)
        #expect(context.lastRefusal == .hostMismatch(host: "other"))
    }

    @Test("a TLS context is not made for a key that is not the certificate's, or for no certificate")
    func wrongIdentity() throws {
        let client = try authority.client(name: "board")
        let trust = ServerTrust.test(anchors: [authority.root])
        #expect(throws: CryptographyError.keyDoesNotFitCertificate) {
            try TLSContext(trust: trust, identity: TLSIdentity(key: PrivateKey(generating: .p256), chain: client.chain))
        }
        #expect(throws: CryptographyError.self) {
            try TLSContext(trust: trust, identity: TLSIdentity(key: client.key, chain: []))
        }
    }

    @Test(
        "a TLS context speaks TLS 1.2 and 1.3 and nothing older",
        arguments: [
            (TLS1_1_VERSION, false), (TLS1_2_VERSION, true), (TLS1_3_VERSION, true),
        ])
    func versions(version: Int32, isSpoken: Bool) throws {
        let context = try TLSContext(trust: .test(anchors: [authority.root]), identity: nil)
        var old = Handshake.Server(server)
        old.newestVersion = version
        #expect(try Handshake(context.handle, with: old).clientFinished == isSpoken)
        // By its own setting, and not only because no cipher of theirs is accepted.
        #expect(SSL_CTX_ctrl(OpaquePointer(context.handle), SSL_CTRL_GET_MIN_PROTO_VERSION, 0, nil) == TLS1_2_VERSION)
    }

    @Test("a TLS context reports the newest handshake's refusal, and none after one that went well")
    func newestRefusal() throws {
        let context = try TLSContext(trust: .test(anchors: [authority.root]), identity: nil)
        #expect(context.lastRefusal == nil)
        _ = try Handshake(context.handle, with: Handshake.Server(try authority.server(dnsNames: ["other"])))
        #expect(context.lastRefusal == .hostMismatch(host: "localhost"))
        _ = try Handshake(context.handle, with: Handshake.Server(server))
        #expect(context.lastRefusal == nil)
    }

    @Test("a TLS context asks for the time at each handshake")
    func clock() throws {
        let clock = TestClock(TestAuthority.now)
        var trust = ServerTrust.test(anchors: [authority.root])
        trust.judgedAt = { clock.date }
        let context = try TLSContext(trust: trust, identity: nil)
        #expect(try Handshake(context.handle, with: Handshake.Server(server)).clientFinished)
        clock.pass(2 * TestAuthority.day)
        #expect(try !Handshake(context.handle, with: Handshake.Server(server)).clientFinished)
        #expect(context.lastRefusal == .expired(server.chain[0].notAfter))
    }
}

@Suite("A foreign SSL_CTX")
struct ForeignContextTests {
    private let authority: TestAuthority
    private let server: TLSIdentity

    init() throws {
        authority = try TestAuthority()
        server = try authority.server()
    }

    @Test("a foreign SSL_CTX judges and shows the same, after whoever set it up is gone")
    func outlives() throws {
        let foreign = try #require(SSL_CTX_new(TLS_client_method()))
        defer { SSL_CTX_free(foreign) }
        let client = try authority.client(name: "board")
        do {
            let context = try TLSContext(trust: .test(pins: [server.key.publicKey]), identity: client)
            try context.configure(UnsafeMutableRawPointer(foreign))
        }
        var asking = Handshake.Server(server)
        asking.clientAuthority = authority.root
        let handshake = try Handshake(UnsafeMutableRawPointer(foreign), with: asking)
        #expect(handshake.clientFinished)
        #expect(handshake.clientChain.first == client.chain[0])
        let other = Handshake.Server(try authority.server())
        #expect(try !Handshake(UnsafeMutableRawPointer(foreign), with: other).clientFinished)
    }

    @Test("a foreign SSL_CTX keeps what it needs for as long as it lives and no longer")
    func lifetime() throws {
        let foreign = try #require(SSL_CTX_new(TLS_client_method()))
        weak var kept: TestClock?
        do {
            let clock = TestClock(TestAuthority.now)
            kept = clock
            var trust = ServerTrust.test(anchors: [authority.root])
            trust.judgedAt = { clock.date }
            // Set up twice: the first reference must not be lost.
            for _ in 0..<2 { try TLSContext(trust: trust, identity: nil).configure(UnsafeMutableRawPointer(foreign)) }
        }
        #expect(kept != nil)
        SSL_CTX_free(foreign)
        #expect(kept == nil)
    }

    @Test("a foreign SSL_CTX reports its refusals to the TLS context that set it up")
    func refusal() throws {
        let foreign = try #require(SSL_CTX_new(TLS_client_method()))
        defer { SSL_CTX_free(foreign) }
        let context = try TLSContext(trust: .test(host: "other", anchors: [authority.root]), identity: nil)
        try context.configure(UnsafeMutableRawPointer(foreign))
        _ = try Handshake(UnsafeMutableRawPointer(foreign), with: Handshake.Server(server))
        #expect(context.lastRefusal == .hostMismatch(host: "other"))
    }

    @Test("a foreign SSL_CTX hands out no session to resume, and no session keys")
    func noSessions() throws {
        let foreign = try #require(SSL_CTX_new(TLS_client_method()))
        defer { SSL_CTX_free(foreign) }
        // As libcurl does before its hook is called.
        SSL_CTX_ctrl(foreign, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_CLIENT), nil)
        SSL_CTX_sess_set_new_cb(
            foreign,
            { _, _ in
                Issue.record("a session was handed out")
                return 0
            })
        SSL_CTX_set_keylog_callback(foreign, { _, _ in Issue.record("session keys were written") })
        try TLSContext(trust: .test(anchors: [authority.root]), identity: nil)
            .configure(UnsafeMutableRawPointer(foreign))
        var server = Handshake.Server(server)
        server.newestVersion = TLS1_2_VERSION
        #expect(try Handshake(UnsafeMutableRawPointer(foreign), with: server).clientFinished)
    }
}

/// A clock that a test turns.
private final class TestClock: Sendable {
    private let present: Mutex<Date>

    init(_ date: Date) { present = Mutex(date) }

    var date: Date { present.withLock { $0 } }

    func pass(_ time: TimeInterval) { present.withLock { $0 += time } }
}
