import COpenSSL
import FoundationEssentials

/// Why a server was not accepted.
public enum TLSRefusal: Sendable, Equatable {
    /// No certificate of the server's chain matches a pin.
    case pinMismatch
    /// The certificate is for other hosts.
    case hostMismatch(host: String)
    /// The certificate names the host as its common name alone, which does not count (RFC 9525 section 2.2).
    case commonNameOnly(host: String)
    /// A certificate of the chain expired at this time.
    case expired(Date)
    /// A certificate of the chain becomes valid at this time.
    case notYetValid(Date)
    /// A key or signature of the chain is too weak.
    case weak(reason: String)
    /// The server sent more certificates than the limit.
    case chainTooLong(limit: Int)
    /// The chain does not lead to an anchor, or is invalid.
    case untrusted(reason: String)
}

extension TLSRefusal: CustomStringConvertible {
    public var description: String {
        switch self {
        case .pinMismatch: "no key of its certificate chain matches a pin"
        case .hostMismatch(let host): "its certificate is not for \(host)"
        case .commonNameOnly(let host):
            "its certificate has no alternative name, and names \(host) only as its common name"
        case .expired(let date): "a certificate of its chain expired at \(date.formatted(.iso8601))"
        case .notYetValid(let date): "a certificate of its chain is not valid before \(date.formatted(.iso8601))"
        case .weak(let reason): "its certificate chain is too weak: \(reason)"
        case .chainTooLong(let limit): "its certificate chain has more than \(limit) elements"
        case .untrusted(let reason): "its certificate chain is not trusted: \(reason)"
        }
    }
}

extension TLSRefusal {
    /// What to do about it, where that depends on neither the protocol nor the server's role.
    public var remedy: String? {
        guard case .commonNameOnly = self else { return nil }
        return "give the server a certificate with a subject alternative name; until then, set "
            + "gateway.name_check = \"common-name\" for the gateway, or name_check of [[hosts]] or [[brokers]]"
    }

    /// The result of OpenSSL's failed verification of `context`.
    /// - Parameter context: an `X509_STORE_CTX` whose verification failed.
    init(of context: OpaquePointer, host: String) {
        let error = X509_STORE_CTX_get_error(context)
        let certificate = X509_STORE_CTX_get_current_cert(context)
        let reason = String(cString: X509_verify_cert_error_string(Int(error)))
        switch error {
        case X509_V_ERR_HOSTNAME_MISMATCH:
            self = Self.isNamedByCommonName(certificate, host) ? .commonNameOnly(host: host) : .hostMismatch(host: host)
        case X509_V_ERR_IP_ADDRESS_MISMATCH: self = .hostMismatch(host: host)
        case X509_V_ERR_CERT_HAS_EXPIRED:
            let end = certificate.flatMap { try? CertificateTime.date(X509_get0_notAfter($0)) }
            self = end.map(TLSRefusal.expired) ?? .untrusted(reason: reason)
        case X509_V_ERR_CERT_NOT_YET_VALID:
            let start = certificate.flatMap { try? CertificateTime.date(X509_get0_notBefore($0)) }
            self = start.map(TLSRefusal.notYetValid) ?? .untrusted(reason: reason)
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK:
            self = .weak(reason: reason)
        default: self = .untrusted(reason: reason)
        }
    }

    /// Whether ``ServerTrust/NameCheck/commonName`` would take the certificate for this host.
    private static func isNamedByCommonName(_ certificate: OpaquePointer?, _ host: String) -> Bool {
        guard let certificate else { return false }
        // OpenSSL looks at the common name only where there is no DNS name.
        return X509_check_host(certificate, host, host.utf8.count, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS), nil)
            == 1
    }
}
