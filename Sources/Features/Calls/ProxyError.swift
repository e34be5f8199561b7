import AgentCore
import Groundwork

/// Why the forward proxy does not pass a request on.
package enum ProxyError: Explained, Equatable {
    case badTarget(reason: String)
    /// `CONNECT` would make a tunnel, and the answer to `TRACE` would show the token.
    case methodRefused(String)
    /// The gateway is named by its host, not as `gateway`.
    case gatewayByHost(String)
    /// The gateway refused the token after a large body had been sent, which is gone.
    case bodyGone
    /// The answer states its length in two ways.
    case answerAmbiguous

    package var explanation: Explanation {
        switch self {
        case .badTarget(let reason):
            Explanation(
                "proxy.bad-target", .misuse, "the address of the request \(reason)",
                remedy: "ask for http://gateway/PATH, http://ACCOUNT.gateway/PATH, or a configured host",
                meaning: "the address of a request to the proxy is ambiguous or not valid")
        case .methodRefused(let method):
            Explanation(
                "proxy.method-refused", .methodNotAllowed, "the proxy does not pass on \(method)",
                remedy: "use http:// addresses: the agent makes the connection with TLS itself")
        case .gatewayByHost(let host):
            Explanation(
                "proxy.gateway-by-host", .misuse, "\(host) is the gateway, which the proxy calls gateway",
                remedy: "ask for http://gateway/PATH, without the gateway's prefix")
        case .bodyGone:
            Explanation(
                "proxy.body-gone", .temporary,
                "the gateway asked for new credentials after the body had been sent; the body was not kept",
                remedy: "send the request again: the new credentials are ready")
        case .answerAmbiguous:
            Explanation(
                "proxy.answer-ambiguous", .unreachable,
                "the answer has both Transfer-Encoding and Content-Length, so its end is ambiguous",
                remedy: "let the API, or the proxy in front of it, send only one of them")
        }
    }

    package static let examples: [ProxyError] = [
        .badTarget(reason: "REASON"), .methodRefused("CONNECT"), .gatewayByHost("HOST"), .bodyGone,
        .answerAmbiguous,
    ]
}
