import AgentCore
import HTTPClient

/// What no request of a program carries on, whichever door it comes through: the forward proxy or a call of the local
/// API. A grant is about one host and its paths; none of this may lead elsewhere, or speak for the board.
package enum PassedFields {
    /// `CONNECT` would make a tunnel, and the answer to the others would show the token.
    package static func refuses(method: String) -> Bool { ["CONNECT", "TRACE", "TRACK"].contains(method.uppercased()) }

    /// Fields that concern one connection only (RFC 9110 section 7.6.1), or what the agent itself says of the body.
    package static let ofConnection: Set<String> = [
        "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-authenticate",
        "proxy-authentication-info", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding",
        "upgrade",
    ]

    /// Fields by which a board proves itself to its gateway (MAG 0.3), and says where it is (MAG 6.5): the agent's
    /// alone, but for ``ofPlace``, which those who may operate can say otherwise.
    package static let ofAgent: Set<String> = [
        "authorization", "cert-format", "client-authorization", "create-session", "device-id", "device-name",
        "geo-location", "id-token", "id-token-type", "mag-identifier", "msisdn", "redirect-uri",
        "x-authorization-type", "x-cert",
    ]

    private static let ofPlace: Set<String> = ["geo-location", "msisdn"]

    /// Fields that name another host, path or method to some servers, about which no grant was asked.
    package static let ofTarget: Set<String> = [
        "forwarded", "l7-original-url", "x-forwarded-host", "x-forwarded-path", "x-forwarded-prefix",
        "x-forwarded-server", "x-forwarded-uri", "x-host", "x-http-method", "x-http-method-override",
        "x-method-override", "x-original-host", "x-original-method", "x-original-uri", "x-original-url",
        "x-rewrite-url",
    ]

    /// The name of a field as servers read it that make variables of fields (RFC 3875 section 4.1.18): there `_` and `-`
    /// are the same.
    package static func plain(_ name: String) -> String { name.lowercased().replacing("_", with: "-") }

    /// Checks a request that a program states in full.
    ///
    /// - Throws: ``AgentError/badRequest(member:fault:)``
    package static func check(_ call: CallRequest, byOperator: Bool) throws(AgentError) {
        let method = call.method
        guard HTTPHeaders.isToken(method) else {
            throw .badRequest(member: "method", fault: "is not an HTTP method")
        }
        guard !refuses(method: method) else {
            throw .badRequest(member: "method", fault: "is \(method.uppercased()), which is not passed on")
        }
        var refused = ofConnection.union(ofTarget)
        // A package call says nothing of the board, so that it may speak for the program itself.
        if !call.isPublic { refused.formUnion(byOperator ? ofAgent.subtracting(ofPlace) : ofAgent) }
        for (name, value) in call.headers.pairs {
            guard HTTPHeaders.isToken(name) else {
                throw .badRequest(member: "headers", fault: "has a field whose name is not valid in HTTP")
            }
            guard !refused.contains(plain(name)) else {
                throw .badRequest(member: "headers", fault: "has \(name), which a program must not set")
            }
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw .badRequest(member: "headers", fault: "has a value for \(name) with control characters")
            }
        }
    }
}
