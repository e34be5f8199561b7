import CCurl
import Cryptography
import Glibc
import Groundwork

/// Turns libcurl's code and the state of the transfer into an error with a readable reason.
struct Diagnosis {
    let status: CURLcode
    /// libcurl's own text, for handshakes with OpenSSL's reason.
    let text: String
    /// libcurl's text for the code.
    let generalText: String
    let target: RequestDestination
    let unixSocket: String?
    /// Whether the connection, including TLS, was established.
    let hasConnected: Bool
    /// Whether the connection below TLS was established and a handshake begun.
    let hasBegunTLS: Bool
    /// The `errno` of a failed connect, or 0.
    let systemError: Int32
    let refusal: TLSRefusal?
    /// Why the client's key did not sign.
    var signingFailure: CryptographyError?
    /// The server's alert when it ended TLS.
    let alert: TLSAlert?

    /// The proxy's answer to CONNECT, or 0.
    var proxyStatus = 0
    /// The proxy that the request goes through.
    var proxy: ForwardProxy?

    /// `CURLE_TOO_LARGE`, which older headers do not have.
    private static let tooLarge = CURLcode(100)

    var error: HTTPError {
        if let alert, alert.refusesCertificate {
            return .clientCertificateRefused(host: target.host, alert: Int(alert.number))
        }
        if let proxy, proxyStatus != 0, !(200..<300).contains(proxyStatus) {
            return .proxyRefused(proxy: proxy.address, host: target.host, status: proxyStatus)
        }
        switch status {
        case CURLE_COULDNT_RESOLVE_HOST: return .cannotResolve(host: target.host)
        case CURLE_COULDNT_RESOLVE_PROXY:
            return .cannotResolve(host: "the proxy \(proxy?.address ?? "") for \(target.host)")
        case CURLE_COULDNT_CONNECT, CURLE_PROXY: return unreachable(because: reason)
        case CURLE_OPERATION_TIMEDOUT: return timeout
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION:
            guard let refusal else {
                return .handshakeFailed(
                    host: target.host, reason: signingFailure?.message ?? text, remedy: signingFailure?.remedy)
            }
            return .tls(host: target.host, refusal: refusal)
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: return .malformedResponse(url: target.location)
        case CURLE_BAD_CONTENT_ENCODING: return .bodyUndecodable(url: target.location)
        // libcurl's own limit of one header line, exceeded before the line is complete.
        case CURLE_OUT_OF_MEMORY where hasConnected, Self.tooLarge where hasConnected:
            return .responseHeadTooLarge(url: target.location)
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM,
            CURLE_SEND_FAIL_REWIND:
            return .connectionLost(url: target.location, reason: generalText)
        default: return .library(operation: "carry out the request to \(target.location)", reason: generalText)
        }
    }

    private var timeout: HTTPError {
        if hasConnected { return .timeout(url: target.location) }
        if hasBegunTLS { return .handshakeTimeout(host: target.host) }
        return unreachable(because: "no answer in time")
    }

    private func unreachable(because reason: String) -> HTTPError {
        if let unixSocket { return .cannotConnectToSocket(path: unixSocket, reason: reason) }
        if let proxy, proxyStatus == 0 {
            return .cannotConnectToProxy(proxy: proxy.address, host: target.host, reason: reason)
        }
        return .cannotConnect(host: target.host, port: target.port, reason: reason)
    }

    private var reason: String { systemError == 0 ? generalText : String(cString: strerror(systemError)) }
}
