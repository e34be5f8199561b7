import COpenSSL

/// A client's TLS configuration: how the server must prove its identity and the client's own identity, for every
/// library that takes an `SSL_CTX`.
///
/// TLS 1.2 and 1.3 with forward secrecy and authenticated encryption; no renegotiation and no resumption, so that every
/// connection is verified with its own trust. Libraries that use it need no checks of their own: the host name is
/// verified here too.
public final class TLSContext: Sendable {
    private let verifier: ServerVerifier
    private let identity: TLSIdentity?
    private let applicationProtocol: String?
    private let minimum: ServerSecurity.MinimumTLS
    /// An `SSL_CTX`.
    ///
    /// `nonisolated(unsafe)` is correct because nothing sets it up after `init`, and OpenSSL lets several threads
    /// create connections from one that no thread changes.
    private nonisolated(unsafe) let context: OpaquePointer

    /// - Parameter applicationProtocol: what the server is told that is spoken (ALPN, RFC 7301), of 1 to 255 bytes;
    ///   `nil` says nothing.
    /// - Throws: ``CryptographyError``, such as ``CryptographyError/keyDoesNotFitCertificate``.
    public init(trust: ServerTrust, identity: TLSIdentity?, applicationProtocol: String? = nil)
        throws(CryptographyError)
    {
        verifier = try ServerVerifier(trust)
        if let identity {
            self.identity = TLSIdentity(key: try identity.key.recordingAlone(), chain: identity.chain)
        } else {
            self.identity = nil
        }
        self.applicationProtocol = applicationProtocol
        minimum = trust.security.minimumTLS
        context = try check("make a TLS context", SSL_CTX_new(TLS_client_method()))
        // `deinit` frees the context if this throws.
        try configure(UnsafeMutableRawPointer(context))
    }

    deinit { SSL_CTX_free(context) }

    /// An `SSL_CTX *` for a library that takes one (`MOSQ_OPT_SSL_CTX`). Valid while this object lives or the library
    /// has a reference of its own (`SSL_CTX_up_ref`).
    public var handle: UnsafeMutableRawPointer { UnsafeMutableRawPointer(context) }

    /// Why the server of the newest handshake was refused; `nil` if it was accepted or there was no handshake yet. Of
    /// several concurrent handshakes it is the last one to end, so create a context for each connection to get an exact
    /// result.
    public var lastRefusal: TLSRefusal? { verifier.refusal }

    /// Why the client's key did not sign in the newest handshake, if it is a ``ForeignKey``; `nil` if it signed or was not
    /// asked. Exact and of several concurrent handshakes as ``lastRefusal``.
    public var lastSigningFailure: CryptographyError? { identity?.key.foreign?.failure }

    /// Sets up another library's `SSL_CTX` (`CURLOPT_SSL_CTX_FUNCTION`) like ``handle``. It keeps everything that it
    /// needs alive until it is freed.
    /// - Parameter sslContext: an `SSL_CTX *` without any connections yet.
    /// - Throws: ``CryptographyError``
    public func configure(_ sslContext: UnsafeMutableRawPointer) throws(CryptographyError) {
        let operation = "set up TLS"
        let context = OpaquePointer(sslContext)
        let version = minimum == .tls13 ? TLS1_3_VERSION : TLS1_2_VERSION
        guard latchkey_context_require_tls(context, version) == 1 else { throw openSSLError(operation) }
        SSL_CTX_set_security_level(context, 2)
        try check(operation, SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20"))
        latchkey_context_turn_sessions_off(context)
        // Otherwise libcurl would write the session keys to the file in the environment variable SSLKEYLOGFILE.
        SSL_CTX_set_keylog_callback(context, nil)
        try verifier.install(on: context)
        if let identity { try Self.show(identity, in: context) }
        if let applicationProtocol { try Self.name(applicationProtocol, in: context) }
    }

    private static func name(_ applicationProtocol: String, in context: OpaquePointer) throws(CryptographyError) {
        let operation = "name the protocol"
        guard let length = UInt8(exactly: applicationProtocol.utf8.count), length > 0 else {
            throw .invalidParameter(operation: operation, reason: "it does not have 1 to 255 bytes")
        }
        let list = [length] + Array(applicationProtocol.utf8)
        // Returns 0 when it succeeds, unlike most of OpenSSL.
        guard SSL_CTX_set_alpn_protos(context, list, UInt32(list.count)) == 0 else { throw openSSLError(operation) }
    }

    private static func show(_ identity: TLSIdentity, in context: OpaquePointer) throws(CryptographyError) {
        let operation = "show the client certificate"
        guard let leaf = identity.chain.first else {
            throw .invalidParameter(operation: operation, reason: "the identity has no certificate")
        }
        guard leaf.publicKey == identity.key.publicKey else { throw .keyDoesNotFitCertificate }
        try check(operation, SSL_CTX_use_certificate(context, leaf.handle))
        try check(operation, SSL_CTX_use_PrivateKey(context, identity.key.handle))
        if identity.key.foreign != nil {
            // A server chooses among what the client says; no more is asked of a chip than every one does.
            let isRSA = KeyKind(of: identity.key.handle) == .rsa
            let list = isRSA ? "rsa_pss_rsae_sha256:RSA+SHA256" : "ECDSA+SHA256"
            try check(operation, latchkey_context_limit_client_signatures(context, list))
        }
        try check(operation, latchkey_context_clear_chain(context))
        for certificate in identity.chain.dropFirst() {
            try check(operation, latchkey_context_add_chain(context, certificate.handle))
        }
    }
}
