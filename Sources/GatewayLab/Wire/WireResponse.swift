import Groundwork

/// An answer in the form of the protocol. Header names are sent in this spelling (MAG quirk Q4).
struct WireResponse: Sendable {
    var status: Int
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// After this many bytes of the body the connection breaks.
    var breaksAfter: Int?
    /// A line for the lab's journal; not sent.
    var note: String?
    /// The browser's session, by its webOTT, that has to end a log-in with M-Pin before this is sent.
    var awaitsBrowser: String?

    /// JSON that must not be cached (MAG 0.4).
    static func json(_ value: JSON, status: Int = 200) -> WireResponse {
        WireResponse(
            status: status,
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store"), ("Pragma", "no-cache")],
            body: value.bytes)
    }

    /// Text, used for certificates (MAG quirk Q5).
    static func text(_ text: String, headers: [(name: String, value: String)] = []) -> WireResponse {
        WireResponse(
            status: 200,
            headers: [("Content-Type", "text/plain"), ("Cache-Control", "no-store"), ("Pragma", "no-cache")] + headers,
            body: Array(text.utf8))
    }

    /// Redirects a browser (MAG 7.2).
    static func redirect(to location: String) -> WireResponse {
        WireResponse(
            status: 302, headers: [("Location", location), ("Cache-Control", "no-store"), ("Pragma", "no-cache")])
    }

    /// The `x-ca-err` it carries.
    var errorCode: Int? { headers.first { $0.name == "x-ca-err" }.flatMap { Int($0.value) } }
}

/// An error answer of the gateway: the code determines the client's reaction, the text is for people.
struct GatewayFault: Error, Equatable {
    /// `x-ca-err`: the number of the API, then three digits (MAG 6.4).
    var code: Int
    var status: Int
    /// The OAuth error code.
    var error: String
    var text: String

    init(_ code: Int, status: Int = 400, _ error: String = "invalid_request", _ text: String) {
        self.code = code
        self.status = status
        self.error = error
        self.text = text
    }

    var response: WireResponse {
        var response = WireResponse.json(["error": .string(error), "error_description": .string(text)], status: status)
        response.headers.append(("x-ca-err", String(code)))
        if status == 401 {
            // A challenge that browsers do not show as a password prompt, because no person is asked here.
            response.headers.append(("WWW-Authenticate", "Bearer realm=\"latchkey-lab\", error=\"\(error)\""))
        }
        return response
    }
}
