import Groundwork

/// An answer as the protocol sees it. Header names are written as they stand here (Q4).
struct WireResponse: Sendable {
    var status: Int
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// What happened to whom, for the lab's journal; not sent.
    var note: String?

    /// JSON that nobody may keep (MAG 0.4).
    static func json(_ value: JSON, status: Int = 200) -> WireResponse {
        WireResponse(
            status: status,
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store"), ("Pragma", "no-cache")],
            body: value.bytes)
    }

    /// Text, as certificates are answered (Q5).
    static func text(_ text: String, headers: [(name: String, value: String)] = []) -> WireResponse {
        WireResponse(
            status: 200,
            headers: [("Content-Type", "text/plain"), ("Cache-Control", "no-store"), ("Pragma", "no-cache")] + headers,
            body: Array(text.utf8))
    }

    /// Leads a browser elsewhere (MAG 7.2).
    static func redirect(to location: String) -> WireResponse {
        WireResponse(
            status: 302, headers: [("Location", location), ("Cache-Control", "no-store"), ("Pragma", "no-cache")])
    }

    /// The `x-ca-err` it carries.
    var errorCode: Int? { headers.first { $0.name == "x-ca-err" }.flatMap { Int($0.value) } }
}

/// An error as the gateway answers it: the code decides what the client does, the text is for people.
struct GatewayFault: Error, Equatable {
    /// `x-ca-err`: the number of the API, then three digits (MAG 6.4).
    var code: Int
    var status: Int
    /// OAuth's word for it.
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
            // A challenge that no browser turns into a password window, since no person is asked here.
            response.headers.append(("WWW-Authenticate", "Bearer realm=\"latchkey-lab\", error=\"\(error)\""))
        }
        return response
    }
}
