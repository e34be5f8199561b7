import Cryptography
import Groundwork

/// Why a request got no answer. No case contains a query string, user info, a header value or a body.
public enum HTTPError: Explained, Equatable {
    /// The request cannot be sent as stated; `reason` names the part, never its content.
    case malformedRequest(reason: String)
    /// An `http:` URL without a Unix socket and without permission to go unprotected.
    case plainHTTPRefused(host: String)
    /// An `https:` request that does not say what the server must prove.
    case noTrust(host: String)
    case cannotResolve(host: String)
    case cannotConnect(host: String, port: Int, reason: String)
    case cannotConnectToSocket(path: String, reason: String)
    /// The way to the host leads through this proxy, which cannot be reached.
    case cannotConnectToProxy(proxy: String, host: String, reason: String)
    /// The proxy does not lead to the host; `status` is its answer to CONNECT (RFC 9110 section 9.3.6).
    case proxyRefused(proxy: String, host: String, status: Int)
    /// The server's certificate was not trusted.
    case tls(host: String, refusal: TLSRefusal)
    /// The handshake failed for a reason other than the server's certificate. The remedy is that of what has our key.
    case handshakeFailed(host: String, reason: String, remedy: String? = nil)
    /// The server refused our client certificate, or asked for one and got none; `alert` is the TLS alert's number
    /// (RFC 8446 section 6.2).
    case clientCertificateRefused(host: String, alert: Int)
    /// The connection was established, but its TLS session was not within the time limit.
    case handshakeTimeout(host: String)
    /// The answer was not complete in time. `url` is without its query.
    case timeout(url: String)
    /// The body has more bytes than the request allows.
    case responseTooLarge(url: String, limit: Int)
    /// The head has more fields or bytes than ``ResponseHead`` allows.
    case responseHeadTooLarge(url: String)
    /// What came back is not HTTP.
    case malformedResponse(url: String)
    /// The body is compressed in a way that is not known, or not as its head says.
    case bodyUndecodable(url: String)
    /// The connection ended before the answer was complete.
    case connectionLost(url: String, reason: String)
    case cancelled
    /// libcurl is not installed, or lacks a function that is needed.
    case libraryMissing(name: String)
    /// libcurl uses a TLS library other than OpenSSL, which holds all keys and trust.
    case unsuitableLibrary(found: String)
    /// libcurl refused a call; nothing was sent.
    case library(operation: String, reason: String)
}

extension HTTPError {
    public var explanation: Explanation {
        switch self {
        case .malformedRequest(let reason):
            Explanation("http.malformed-request", .internal, "cannot send the request: \(reason)")
        case .plainHTTPRefused(let host):
            Explanation(
                "http.plain-http-refused", .configuration,
                "cannot send the request to \(host): its URL is http, not https", remedy: "use an https URL")
        case .noTrust(let host):
            Explanation(
                "http.no-trust", .configuration,
                "cannot connect to \(host): nothing says which server certificate to trust",
                remedy: "name trust anchors or public key pins for this host in the configuration")
        case .cannotResolve(let host):
            Explanation(
                "http.cannot-resolve", .unreachable, "cannot find the address of \(host)",
                remedy: "check the host name and the name server of this network")
        case .cannotConnect(let host, let port, let reason):
            Explanation(
                "http.cannot-connect", .unreachable, "cannot connect to \(host) port \(port): \(reason)",
                remedy: "check that the host is up and that no firewall is in the way")
        case .cannotConnectToSocket(let path, let reason):
            Explanation(
                "http.cannot-connect-to-socket", .notRunning, "cannot connect to \(path): \(reason)",
                remedy: "check that the service is running and that this user may use its socket")
        case .cannotConnectToProxy(let proxy, let host, let reason):
            Explanation(
                "http.cannot-connect-to-proxy", .unreachable,
                "cannot connect to the proxy \(proxy) for \(host): \(reason)",
                remedy: ForwardProxy.remedy)
        case .proxyRefused(let proxy, let host, let status):
            Explanation(
                "http.proxy-refused", .unreachable,
                "the proxy \(proxy) does not connect to \(host): it answered CONNECT with status \(status)",
                remedy: status == 407
                    ? "write the proxy's user and password into https_proxy of the agent's environment"
                    : "ask its administrator to allow this host and port, or name the host in no_proxy")
        case .tls(let host, let refusal):
            Explanation(
                "http.server-not-trusted", .unreachable, "\(host) is not trusted: \(refusal)",
                remedy: refusal.remedy
                    ?? "compare the server's certificate with the configuration's anchors and pins, and this board's "
                    + "clock",
                meaning: "the server could not prove that it is the expected one: its certificate chain, its name or "
                    + "its dates are wrong")
        case .handshakeFailed(let host, let reason, let remedy):
            Explanation(
                "http.handshake-failed", .unreachable, "cannot agree on TLS with \(host): \(reason)",
                remedy: remedy
                    ?? "check that the port is right, that the server speaks TLS 1.3, or TLS 1.2 with ECDHE and AES-GCM "
                    + "or ChaCha20-Poly1305 (CBC is refused), and that no proxy or firewall is in between")
        case .clientCertificateRefused(let host, let alert):
            Explanation(
                "http.client-certificate-refused", .refused,
                "\(host) refused the client certificate: \(TLSAlert(number: UInt8(clamping: alert)).name)",
                remedy: "check the dates of the client certificate, and that the server still knows it")
        case .handshakeTimeout(let host):
            Explanation(
                "http.handshake-timeout", .unreachable, "\(host) did not finish the TLS handshake in time",
                remedy: "try again; if it persists, check the server's log")
        case .timeout(let url):
            Explanation(
                "http.timeout", .unreachable, "no complete answer in time from \(url)",
                remedy: "try again; if it persists, check the server's log")
        case .responseTooLarge(let url, let limit):
            Explanation(
                "http.response-too-large", .invalidAnswer, "the answer from \(url) is larger than \(limit) bytes")
        case .responseHeadTooLarge(let url):
            Explanation(
                "http.response-head-too-large", .invalidAnswer,
                "the head of the answer from \(url) has more than \(ResponseHead.byteLimit) bytes or "
                    + "\(ResponseHead.fieldLimit) fields")
        case .malformedResponse(let url):
            Explanation("http.malformed-response", .invalidAnswer, "the answer from \(url) is not HTTP")
        case .bodyUndecodable(let url):
            Explanation(
                "http.body-undecodable", .invalidAnswer, "the answer from \(url) is compressed and cannot be decoded",
                remedy: "no compression was requested: check the server, and the proxy in front of it")
        case .connectionLost(let url, let reason):
            Explanation(
                "http.connection-lost", .unreachable,
                "the connection ended before the answer from \(url) was complete: \(reason)",
                remedy: "try again; if it persists, check the server's log")
        case .cancelled: Explanation("http.cancelled", .cancelled, "the request was canceled")
        case .libraryMissing(let name):
            Explanation(
                "http.library-missing", .unavailable,
                "HTTP requests need \(name), which could not be loaded",
                remedy: "install the Debian package libcurl4")
        case .unsuitableLibrary(let found):
            Explanation(
                "http.unsuitable-library", .unavailable, "libcurl uses \(found) for TLS, not OpenSSL",
                remedy: "install libcurl4 (the OpenSSL flavor) instead of libcurl3-gnutls")
        case .library(let operation, let reason):
            Explanation("http.library", .internal, "libcurl cannot \(operation): \(reason)")
        }
    }

    public static let examples: [HTTPError] = [
        .malformedRequest(reason: "REASON"), .plainHTTPRefused(host: "HOST"), .noTrust(host: "HOST"),
        .cannotResolve(host: "HOST"),
        .cannotConnect(host: "HOST", port: 443, reason: "REASON"),
        .cannotConnectToSocket(path: "PATH", reason: "REASON"),
        .cannotConnectToProxy(proxy: "PROXY", host: "HOST", reason: "REASON"),
        .proxyRefused(proxy: "PROXY", host: "HOST", status: 403),
        .tls(host: "HOST", refusal: .pinMismatch), .handshakeFailed(host: "HOST", reason: "REASON"),
        .clientCertificateRefused(host: "HOST", alert: 45), .handshakeTimeout(host: "HOST"), .timeout(url: "URL"),
        .responseTooLarge(url: "URL", limit: 262_144), .responseHeadTooLarge(url: "URL"),
        .malformedResponse(url: "URL"), .bodyUndecodable(url: "URL"),
        .connectionLost(url: "URL", reason: "REASON"), .cancelled, .libraryMissing(name: "libcurl.so.4"),
        .unsuitableLibrary(found: "LIBRARY"), .library(operation: "OPERATION", reason: "REASON"),
    ]
}
