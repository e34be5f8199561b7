import COpenSSL
import Testing

@testable import Cryptography

/// A TLS handshake between a client and a server of this process, over memory.
struct Handshake {
    /// What a test server does besides showing its chain.
    struct Server {
        let identity: TLSIdentity
        /// Asks for a client certificate and believes those of this authority.
        var clientAuthority: Certificate?
        /// `TLS1_2_VERSION` and the like; 0 is the newest.
        var newestVersion: Int32 = 0

        init(_ identity: TLSIdentity) { self.identity = identity }
    }

    let clientFinished: Bool
    let serverFinished: Bool
    /// The chain that the client showed, as the server saw it.
    let clientChain: [Certificate]

    /// - Parameter client: an `SSL_CTX *`.
    init(_ client: UnsafeMutableRawPointer, with server: Server) throws {
        let serverContext = try #require(SSL_CTX_new(TLS_server_method()))
        defer { SSL_CTX_free(serverContext) }
        try Self.prepare(serverContext, server)
        let (near, far) = (try #require(SSL_new(OpaquePointer(client))), try #require(SSL_new(serverContext)))
        defer {
            SSL_free(near)
            SSL_free(far)
        }
        var (nearEnd, farEnd): (OpaquePointer?, OpaquePointer?)
        try #require(BIO_new_bio_pair(&nearEnd, 0, &farEnd, 0) == 1)
        SSL_set_bio(near, nearEnd, nearEnd)
        SSL_set_bio(far, farEnd, farEnd)
        SSL_set_connect_state(near)
        SSL_set_accept_state(far)
        // Each side goes on until it waits for the other; a handshake has fewer flights than this.
        var (nearStatus, farStatus): (Int32, Int32) = (-1, -1)
        for _ in 0..<20 where nearStatus != 1 || farStatus != 1 {
            if nearStatus != 1 { nearStatus = SSL_do_handshake(near) }
            if farStatus != 1 { farStatus = SSL_do_handshake(far) }
            ERR_clear_error()
        }
        (clientFinished, serverFinished) = (nearStatus == 1, farStatus == 1)
        var chain: [Certificate] = []
        if let leaf = SSL_get1_peer_certificate(far) { chain.append(try Certificate(owning: leaf)) }
        let rest = SSL_get_peer_cert_chain(far)
        for index in 0..<max(0, latchkey_certificates_count(rest)) {
            let certificate = try #require(latchkey_certificates_at(rest, index))
            try #require(X509_up_ref(certificate) == 1)
            chain.append(try Certificate(owning: certificate))
        }
        clientChain = chain
    }

    private static func prepare(_ context: OpaquePointer, _ server: Server) throws {
        try #require(SSL_CTX_use_certificate(context, server.identity.chain[0].handle) == 1)
        try #require(SSL_CTX_use_PrivateKey(context, server.identity.key.handle) == 1)
        for certificate in server.identity.chain.dropFirst() {
            try #require(latchkey_context_add_chain(context, certificate.handle) == 1)
        }
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(server.newestVersion), nil)
        if server.newestVersion != 0, server.newestVersion < TLS1_2_VERSION {
            SSL_CTX_set_security_level(context, 0)
            try #require(SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0") == 1)
        }
        guard let authority = server.clientAuthority else { return }
        try #require(X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.handle) == 1)
        // The chain is judged by the system's clock in the server, and tests judge at a time of their own.
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, { _, _ in 1 })
    }
}

extension ServerTrust {
    /// Of the host `localhost`, judged at the time of ``TestAuthority``.
    static func test(
        host: String = "localhost", anchors: [Certificate] = [], pins: [PublicKey] = [], checksHostName: Bool = true
    ) -> ServerTrust {
        ServerTrust(
            host: host, anchors: anchors, pins: pins.map(PublicKeyPin.init(of:)), checksHostName: checksHostName,
            judgedAt: { TestAuthority.now })
    }

    /// What becomes of a handshake with a server that shows `identity`: `nil` when it is believed.
    func refusal(of identity: TLSIdentity) throws -> TLSRefusal? {
        let context = try TLSContext(trust: self, identity: nil)
        let handshake = try Handshake(context.handle, with: Handshake.Server(identity))
        // Whoever is refused gets no session, and whoever gets one was not refused.
        #expect(handshake.clientFinished == (context.lastRefusal == nil))
        return context.lastRefusal
    }
}
