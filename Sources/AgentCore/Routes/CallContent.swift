import Groundwork
import HTTPClient
import LocalAPI

/// What is sent or signed, as a request of the local API states it: bytes, text, JSON or a form.
package struct CallContent {
    /// `nil` if nothing is given.
    package let bytes: [UInt8]?
    package let kind: CallRequest.Kind?

    /// - Parameter done: what is done with it.
    package static func members(_ done: String) -> [String: Schema] {
        [
            "body": Schema.base64("the content to be \(done): give this, text, json or form").asSensitive,
            "text": Schema.string("the content to be \(done), as text/plain").asSensitive,
            "json": Schema.anything("the content to be \(done), as application/json").asSensitive,
            "form": .pairs("the content to be \(done), encoded as a form").asSensitive,
            "type": .string("type of the body: its Content-Type", choices: CallRequest.Kind.allCases.map(\.rawValue)),
        ]
    }

    /// - Parameter orUpload: whether it may follow in pieces instead.
    /// - Throws: ``AgentError/badRequest(member:fault:)``
    package init(_ body: RequestBody, orUpload: Bool = false) throws(AgentError) {
        let given = (["body", "text", "json", "form"] + (orUpload ? ["upload"] : []))
            .filter { body[$0] ?? .null != .null }
        guard given.count <= 1 else {
            throw .badRequest(member: "the body", fault: "has more than one of \(given.joined(separator: ", "))")
        }
        let type = try body.kind("type")
        switch given.first {
        case "text": (bytes, kind) = (Array(try body.string("text").utf8), type ?? .text)
        case "json": (bytes, kind) = (body["json"]?.bytes, type ?? .json)
        case "form": (bytes, kind) = (FormBody(try body.pairs("form")).bytes, type ?? .form)
        case "body":
            guard let decoded = Base64.decode(try body.string("body")) else {
                throw .badRequest(member: "body", fault: "is not base64")
            }
            (bytes, kind) = (decoded, type)
        default: (bytes, kind) = (nil, type)
        }
    }
}
