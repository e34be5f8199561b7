import CGnuTLS

/// What all sessions of a server share: its identity, the versions it speaks, the key of its session tickets, and which
/// client certificates it accepts.
final class TLSCredentials: Sendable {
    private let identity: Owned<gnutls_certificate_credentials_t>
    private let priority: Owned<gnutls_priority_t>
    private let ticketKey: Owned<gnutls_datum_t>
    private let acceptsClient: @Sendable ([UInt8]) -> Bool

    private static let versions = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

    /// GnuTLS counts who uses it. In the process of the tests the agent's HTTP server, which has no use for it, gives up
    /// what was set up at the start.
    private static let setUp = gnutls_global_init()

    /// - Parameters:
    ///   - chain: certificates as PEM, the server's first.
    ///   - key: PEM of PKCS#8.
    ///   - acceptsClient: decides by the DER of the certificate that a client has shown.
    /// - Throws: `LabError.cryptography`
    init(chain: String, key: String, acceptsClient: @escaping @Sendable ([UInt8]) -> Bool) throws(LabError) {
        self.acceptsClient = acceptsClient
        try check("start GnuTLS", Self.setUp)
        priority = try Owned("choose the versions of TLS", gnutls_priority_deinit) {
            gnutls_priority_init(&$0, Self.versions, nil)
        }
        ticketKey = try Owned("make a key of session tickets", latchkey_tls_free) { made in
            var key = gnutls_datum_t()
            let status = gnutls_session_ticket_key_generate(&key)
            made = key
            return status
        }
        identity = try Owned("make TLS credentials", gnutls_certificate_free_credentials) {
            gnutls_certificate_allocate_credentials(&$0)
        }
        try check("use the server's certificate and key", Self.load(chain, key, into: identity.handle))
        gnutls_certificate_set_verify_function(identity.handle) { session in
            TLSSession.of(session).acceptsPeer ? 0 : GNUTLS_E_CERTIFICATE_ERROR
        }
    }

    /// Whether a client may go on that has shown a certificate and proven its key.
    /// - Parameter certificate: DER
    func accepts(_ certificate: [UInt8]) -> Bool { acceptsClient(certificate) }

    /// Prepares a session of these credentials, which have to live at least as long.
    /// - Throws: `LabError.cryptography`
    func prepare(_ session: gnutls_session_t) throws(LabError) {
        try check("set up a TLS session", gnutls_priority_set(session, priority.handle))
        let credentials = UnsafeMutableRawPointer(identity.handle)
        try check("set up a TLS session", gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials))
        gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST)
        var key = ticketKey.handle
        try check("set up a TLS session", gnutls_session_ticket_enable_server(session, &key))
    }

    private static func load(_ chain: String, _ key: String, into identity: gnutls_certificate_credentials_t) -> Int32 {
        var (chain, key) = (Array(chain.utf8), Array(key.utf8))
        return chain.withUnsafeMutableBufferPointer { chain in
            key.withUnsafeMutableBufferPointer { key in
                var chain = gnutls_datum_t(data: chain.baseAddress, size: UInt32(chain.count))
                var key = gnutls_datum_t(data: key.baseAddress, size: UInt32(key.count))
                return gnutls_certificate_set_x509_key_mem(identity, &chain, &key, GNUTLS_X509_FMT_PEM)
            }
        }
    }
}

/// Something of GnuTLS's, freed with the last reference. Nothing changes it once it is set up.
private final class Owned<Handle>: Sendable {
    nonisolated(unsafe) let handle: Handle
    private let free: @Sendable (Handle) -> Void

    init(_ operation: String, _ free: @escaping @Sendable (Handle) -> Void, make: (inout Handle?) -> Int32)
        throws(LabError)
    {
        var handle: Handle?
        try check(operation, make(&handle))
        guard let handle else { throw .cryptography(operation: operation, reason: "GnuTLS made nothing") }
        self.handle = handle
        self.free = free
    }

    deinit { free(handle) }
}

private func check(_ operation: String, _ status: Int32) throws(LabError) {
    guard status >= 0 else {
        throw .cryptography(operation: operation, reason: String(cString: gnutls_strerror(status)))
    }
}
