import HTTPClient

extension HTTPError {
    /// The number in MAG 13.4 for a request without an answer.
    var localNumber: Int {
        switch self {
        case .timeout, .handshakeTimeout: 100_405
        case .tls: 100_408
        case .handshakeFailed, .clientCertificateRefused: 100_406
        // The general number for a request without an answer; it also suits a new error.
        default: 100_403
        }
    }
}
