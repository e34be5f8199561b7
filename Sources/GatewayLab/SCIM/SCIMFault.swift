import Groundwork

/// An error answer of SCIM (RFC 7644 section 3.12).
struct SCIMFault: Error {
    let status: Int
    let type: String?
    let detail: String

    init(_ status: Int, _ type: String? = nil, _ detail: String) {
        self.status = status
        self.type = type
        self.detail = detail
    }

    var response: WireResponse {
        var body: [String: JSON] = [
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"], "status": .string("\(status)"),
            "detail": .string(detail),
        ]
        body["scimType"] = type.map(JSON.string)
        return .scim(.object(body), status: status)
    }

    static let absent = SCIMFault(404, nil, "There is no such resource")
}

extension GatewayFault {
    /// The same for a client of SCIM: the gateway's number stays in the header.
    var scimResponse: WireResponse {
        let described = SCIMFault(status, nil, text).response
        var response = response
        response.headers[0].value = described.headers[0].value
        response.body = described.body
        return response
    }
}

extension WireResponse {
    static func scim(_ value: JSON, status: Int = 200) -> WireResponse {
        var response = WireResponse.json(value, status: status)
        response.headers[0].value = "application/scim+json"
        return response
    }
}
