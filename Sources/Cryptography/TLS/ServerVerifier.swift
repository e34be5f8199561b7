import COpenSSL
import FoundationEssentials
import Synchronization

/// Verifies the certificate chain of a server according to a ``ServerTrust``, instead of OpenSSL's default
/// verification.
///
/// Every `SSL_CTX` on which it is installed has a reference, so it lives at least until the last handshake that may use
/// it.
final class ServerVerifier: Sendable {
    /// The maximum number of certificates in a chain, including the server's own.
    static let chainLimit = 10
    /// The maximum size of the chain that a server sends, in bytes.
    static let chainByteLimit = 64 << 10

    private let trust: ServerTrust
    /// An `X509_STORE`.
    ///
    /// `nonisolated(unsafe)` is correct because it is filled in `init`, and OpenSSL locks it when threads use it.
    private nonisolated(unsafe) let store: OpaquePointer
    private let newest = Mutex<TLSRefusal?>(nil)

    init(_ trust: ServerTrust) throws(CryptographyError) {
        let operation = "gather the trust anchors"
        self.trust = trust
        store = try check(operation, X509_STORE_new())
        // `deinit` frees the store if one of these throws.
        for anchor in trust.security.anchors { try check(operation, X509_STORE_add_cert(store, anchor.handle)) }
        if trust.security.usesPublicAnchors { try check(operation, X509_STORE_set_default_paths(store)) }
        // An anchor may be any certificate, not only a self-signed one.
        try check(operation, X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN)))
    }

    deinit { X509_STORE_free(store) }

    /// The result of the newest handshake: `nil` if the server was accepted, and before the first handshake.
    var refusal: TLSRefusal? { newest.withLock { $0 } }

    /// Makes an `SSL_CTX` use this verifier and keep it alive.
    func install(on context: OpaquePointer) throws(CryptographyError) {
        let operation = "install the verification of servers"
        let reference = Unmanaged.passRetained(self)
        let earlier = SSL_CTX_get_ex_data(context, Self.slot)
        guard SSL_CTX_set_ex_data(context, Self.slot, reference.toOpaque()) == 1 else {
            reference.release()
            throw openSSLError(operation)
        }
        latchkey_context_share_store(context, store)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(
            context,
            { storeContext, argument in
                guard let storeContext, let argument else { return 0 }
                // Alive, because the connection of this handshake references the `SSL_CTX`, which references the
                // verifier.
                return Unmanaged<ServerVerifier>.fromOpaque(argument).takeUnretainedValue().verify(storeContext) ? 1 : 0
            }, reference.toOpaque())
        if let earlier { Unmanaged<ServerVerifier>.fromOpaque(earlier).release() }
        latchkey_context_limit_chain(context, Self.chainByteLimit)
        try expectHost(context)
    }

    /// The slot of `SSL_CTX` for a reference to a verifier, which is released with the context.
    private static let slot = latchkey_context_slot { _, reference, _, _, _, _ in
        if let reference { Unmanaged<ServerVerifier>.fromOpaque(reference).release() }
    }

    private func expectHost(_ context: OpaquePointer) throws(CryptographyError) {
        let operation = "state the expected host"
        let parameters = SSL_CTX_get0_param(context)
        X509_VERIFY_PARAM_set_depth(parameters, Int32(Self.chainLimit))
        // Without the second flag OpenSSL looks at the common name where there is no DNS name.
        let subject = trust.security.nameCheck == .commonName ? 0 : X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
        X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | subject))
        guard trust.checksHostName else { return }
        let isBracketed = trust.host.hasPrefix("[") && trust.host.hasSuffix("]")
        let host = isBracketed ? String(trust.host.dropFirst().dropLast()) : trust.host
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .invalidParameter(operation: operation, reason: "it is empty or not in ASCII")
        }
        if X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1 { return }
        ERR_clear_error()
        try check(operation, X509_VERIFY_PARAM_set1_host(parameters, host, host.utf8.count))
    }
}

// MARK: - Verification

extension ServerVerifier {
    /// - Parameter context: an `X509_STORE_CTX` that OpenSSL prepared for a handshake.
    private func verify(_ context: OpaquePointer) -> Bool {
        let refusal = judge(context)
        newest.withLock { $0 = refusal }
        if refusal != nil, X509_STORE_CTX_get_error(context) == X509_V_OK {
            X509_STORE_CTX_set_error(context, X509_V_ERR_APPLICATION_VERIFICATION)
        }
        return refusal == nil
    }

    private func judge(_ context: OpaquePointer) -> TLSRefusal? {
        let presented = Self.certificates(X509_STORE_CTX_get0_untrusted(context))
        guard presented.count <= Self.chainLimit else { return .chainTooLong(limit: Self.chainLimit) }
        if let date = trust.judgedAt?() {
            let seconds = Int(clamping: Int64(date.timeIntervalSince1970.rounded(.down)))
            X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(context), seconds)
        }
        if !trust.security.anchors.isEmpty || trust.security.usesPublicAnchors { return judgeByAnchors(context) }
        if !trust.security.pins.isEmpty { return judgeByPins(context, presented: presented) }
        return .untrusted(reason: "no anchor and no pin is configured")
    }

    private func judgeByAnchors(_ context: OpaquePointer) -> TLSRefusal? {
        guard X509_verify_cert(context) == 1 else { return TLSRefusal(of: context, host: trust.host) }
        guard !trust.security.pins.isEmpty else { return nil }
        let path = Self.certificates(X509_STORE_CTX_get0_chain(context))
        return candidates(path).contains(where: fitsPin) ? nil : .pinMismatch
    }

    /// Uses the presented certificates that match a pin as anchors, so that OpenSSL verifies the path to them.
    private func judgeByPins(_ context: OpaquePointer, presented: [OpaquePointer]) -> TLSRefusal? {
        let pinned = candidates(presented).filter(fitsPin)
        guard !pinned.isEmpty else { return .pinMismatch }
        guard let anchors = latchkey_certificates_new() else { return .untrusted(reason: "no memory") }
        defer { latchkey_certificates_free(anchors) }
        for certificate in pinned {
            guard latchkey_certificates_push(anchors, certificate) > 0 else { return .untrusted(reason: "no memory") }
        }
        X509_STORE_CTX_set0_trusted_stack(context, anchors)
        guard X509_verify_cert(context) == 1 else {
            switch X509_STORE_CTX_get_error(context) {
            case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
                X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
                X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
                // The server sent a pinned certificate, but its own does not lead to it.
                return .pinMismatch
            default: return TLSRefusal(of: context, host: trust.host)
            }
        }
        return nil
    }

    /// The certificates of a chain that may match a pin: all, or only the server's own if its name is not checked.
    /// Without that check, a pin of an authority's key would accept every server of the authority.
    private func candidates(_ chain: [OpaquePointer]) -> ArraySlice<OpaquePointer> {
        trust.checksHostName ? chain[...] : chain.prefix(1)
    }

    private func fitsPin(_ certificate: OpaquePointer) -> Bool {
        guard let spki = try? encoded("write a public key", { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), $0) })
        else { return false }
        let hash = SHA256.hash(spki)
        return trust.security.pins.contains { $0.sha256 == hash }
    }

    private static func certificates(_ stack: OpaquePointer?) -> [OpaquePointer] {
        (0..<max(0, latchkey_certificates_count(stack))).compactMap { latchkey_certificates_at(stack, $0) }
    }
}
