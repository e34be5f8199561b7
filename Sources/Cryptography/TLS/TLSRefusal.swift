import COpenSSL
import FoundationEssentials

/// Why a server was not accepted.
public enum TLSRefusal: Sendable, Equatable {
    /// No certificate of the server's chain matches a pin.
    case pinMismatch
    /// The certificate is for other hosts.
    case hostMismatch(host: String)
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
        case .pinMismatch: "no key of its certificate chain fits a pin"
        case .hostMismatch(let host): "its certificate is not for \(host)"
        case .expired(let date): "a certificate of its chain expired at \(date.formatted(.iso8601))"
        case .notYetValid(let date): "a certificate of its chain is not valid before \(date.formatted(.iso8601))"
        case .weak(let reason): "its certificate chain is too weak: \(reason)"
        case .chainTooLong(let limit): "its certificate chain has more than \(limit) elements"
        case .untrusted(let reason): "its certificate chain is not trusted: \(reason)"
        }
    }
}

extension TLSRefusal {
    /// The result of OpenSSL's failed verification of `context`.
    /// - Parameter context: an `X509_STORE_CTX` whose verification failed.
    init(of context: OpaquePointer, host: String) {
        let error = X509_STORE_CTX_get_error(context)
        let certificate = X509_STORE_CTX_get_current_cert(context)
        let reason = String(cString: X509_verify_cert_error_string(Int(error)))
        switch error {
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: self = .hostMismatch(host: host)
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
}
