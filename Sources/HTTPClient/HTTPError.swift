import Cryptography
import Groundwork

/// Why a request got no answer. No case carries a query string, user info, a header value or a body.
public enum HTTPError: Explained, Equatable {
    /// The request cannot be sent as stated; `reason` names the part, never its content.
    case malformedRequest(reason: String)
    /// An `http:` URL without a Unix socket and without leave to go unprotected.
    case plainHTTPRefused(host: String)
    /// An `https:` request that does not say what the server must prove.
    case noTrust(host: String)
    case cannotResolve(host: String)
    case cannotConnect(host: String, port: Int, reason: String)
    case cannotConnectToSocket(path: String, reason: String)
    /// The server did not prove itself.
    case tls(host: String, refusal: TLSRefusal)
    /// The handshake failed for another reason than a judgement of the server's certificate.
    case handshakeFailed(host: String, reason: String)
    /// The server refused our client certificate, or asked for one and got none; `alert` is the TLS alert's number
    /// (RFC 8446 section 6.2).
    case clientCertificateRefused(host: String, alert: Int)
    /// The connection stood, but its TLS session was not agreed within the budget.
    case handshakeTimeout(host: String)
    /// The answer was not complete in time. `url` is without its query.
    case timeout(url: String)
    /// The body has more bytes than the request allows.
    case responseTooLarge(url: String, limit: Int)
    /// The head has more fields or bytes than ``ResponseHead`` allows.
    case responseHeadTooLarge(url: String)
    /// What came back is not HTTP.
    case malformedResponse(url: String)
    /// The connection ended before the answer was complete.
    case connectionLost(url: String, reason: String)
    case cancelled
    /// libcurl is not installed, or a function of it that is needed is not in it.
    case libraryMissing(name: String)
    /// The TLS library of libcurl is not the one all keys and trust live in.
    case unsuitableLibrary(found: String)
    /// libcurl refused a call; nothing was sent.
    case library(operation: String, reason: String)
}

extension HTTPError {
    public var code: String {
        switch self {
        case .malformedRequest: "http.malformed-request"
        case .plainHTTPRefused: "http.plain-http-refused"
        case .noTrust: "http.no-trust"
        case .cannotResolve: "http.cannot-resolve"
        case .cannotConnect: "http.cannot-connect"
        case .cannotConnectToSocket: "http.cannot-connect-to-socket"
        case .tls: "http.server-not-trusted"
        case .handshakeFailed: "http.handshake-failed"
        case .clientCertificateRefused: "http.client-certificate-refused"
        case .handshakeTimeout: "http.handshake-timeout"
        case .timeout: "http.timeout"
        case .responseTooLarge: "http.response-too-large"
        case .responseHeadTooLarge: "http.response-head-too-large"
        case .malformedResponse: "http.malformed-response"
        case .connectionLost: "http.connection-lost"
        case .cancelled: "http.cancelled"
        case .libraryMissing: "http.library-missing"
        case .unsuitableLibrary: "http.unsuitable-library"
        case .library: "http.library"
        }
    }

    public var message: String {
        switch self {
        case .malformedRequest(let reason): "cannot send the request: \(reason)"
        case .plainHTTPRefused(let host): "cannot send the request to \(host): its URL is http, not https"
        case .noTrust(let host): "cannot connect to \(host): nothing says which server certificate to trust"
        case .cannotResolve(let host): "cannot find the address of \(host)"
        case .cannotConnect(let host, let port, let reason): "cannot connect to \(host) port \(port): \(reason)"
        case .cannotConnectToSocket(let path, let reason): "cannot connect to \(path): \(reason)"
        case .tls(let host, let refusal): "\(host) is not trusted: \(refusal)"
        case .handshakeFailed(let host, let reason): "cannot agree on TLS with \(host): \(reason)"
        case .clientCertificateRefused(let host, let alert):
            "\(host) refused the client certificate: \(TLSAlert(number: UInt8(clamping: alert)).name)"
        case .handshakeTimeout(let host): "\(host) did not finish the TLS handshake in time"
        case .timeout(let url): "no complete answer in time from \(url)"
        case .responseTooLarge(let url, let limit): "the answer of \(url) is larger than \(limit) bytes"
        case .responseHeadTooLarge(let url):
            "the head of the answer of \(url) has more than \(ResponseHead.byteLimit) bytes or \(ResponseHead.fieldLimit) fields"
        case .malformedResponse(let url): "the answer of \(url) is not HTTP"
        case .connectionLost(let url, let reason):
            "the connection ended before the answer of \(url) was complete: \(reason)"
        case .cancelled: "the request was cancelled"
        case .libraryMissing(let name): "no request can be made without \(name), which could not be loaded"
        case .unsuitableLibrary(let found): "libcurl uses \(found) for TLS, not OpenSSL"
        case .library(let operation, let reason): "libcurl cannot \(operation): \(reason)"
        }
    }

    public var remedy: String? {
        switch self {
        case .plainHTTPRefused: "use an https URL"
        case .noTrust: "name trust anchors or public key pins for this host in the configuration"
        case .cannotResolve: "check the host name and the name server of this network"
        case .cannotConnect: "check that the host is up and that no firewall is in the way"
        case .cannotConnectToSocket: "check that the service is running and that this user may use its socket"
        case .tls: "compare the server's certificate with the configuration's anchors and pins, and this board's clock"
        case .handshakeFailed:
            "check that the port is right, that the server speaks TLS 1.2 or 1.3 with forward secrecy, and that nothing is in between"
        case .clientCertificateRefused: "check the dates of the device certificate and the registration at the gateway"
        case .handshakeTimeout, .timeout, .connectionLost: "try again; if it stays, look at the server's log"
        case .libraryMissing: "install the Debian package libcurl4"
        case .unsuitableLibrary: "install libcurl4 (the OpenSSL flavour) in place of libcurl3-gnutls"
        default: nil
        }
    }
}
