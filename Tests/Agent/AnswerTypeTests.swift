import Groundwork
import HTTPClient
import LocalAPI
import Testing

@testable import Agent
@testable import AgentCore

@Suite("Expected type of an answer")
struct AnswerTypeTests {
    private func call(expecting kind: String?) throws -> CallRequest {
        var members: [String: JSON] = ["method": "GET", "path": "/x"]
        members["expect"] = kind.map(JSON.string)
        return try CallRequest(RequestBody(json: .object(members)))
    }

    @Test(
        "a successful answer of another type than asked for is refused, and nothing else is",
        arguments: [
            ("json", 200, "application/json; charset=utf-8", "2", true),
            ("json", 201, "application/problem+json", nil, true), ("json", 200, "text/json", nil, false),
            ("json", 200, "text/html", nil, false), ("json", 200, nil, nil, false), ("json", 204, nil, nil, true),
            ("json", 200, nil, "0", true), ("json", 404, "text/html", nil, true), ("json", 302, nil, nil, true),
            ("scim", 200, "application/json", nil, true), ("scim", 200, "application/scim+json", nil, true),
            ("json", 200, "application/scim+json", nil, true), ("xml", 200, "TEXT/XML", nil, true),
            ("xml", 200, "image/svg+xml", nil, true), ("xml", 200, "text/plain", nil, false),
            ("text", 200, "text/csv", nil, true), ("text", 200, "application/text", nil, false),
            ("form", 200, "application/x-www-form-urlencoded", nil, true), ("form", 200, "text/plain", nil, false),
            (nil, 200, "text/html", nil, true),
        ] as [(String?, Int, String?, String?, Bool)])
    func types(kind: String?, status: Int, type: String?, length: String?, isTaken: Bool) throws {
        var headers: HTTPHeaders = [:]
        if let type { headers.add("content-type", type) }
        if let length { headers.add("Content-Length", length) }
        let call = try call(expecting: kind)
        if isTaken {
            try call.checkType(ofAnswer: status, headers)
        } else {
            #expect(throws: AgentError.self) { try call.checkType(ofAnswer: status, headers) }
            // Where it is known that there is no body, there is nothing to refuse.
            try call.checkType(ofAnswer: status, headers, isEmpty: true)
        }
    }
}
