import Groundwork
import HTTPClient

/// What a signed body says: the original body and its media type, as the protocol's clients write them into the claims
/// `content` and `content-type` (MAG 6.7). Pure.
struct SignedContent: Equatable {
    /// JSON unchanged, a form as an object of arrays of strings, text as a string, anything else in base64 for URLs.
    let value: JSON
    let mediaType: String

    /// - Throws: ``Unsignable/nothing``; ``Unsignable/content(reason:)`` for a body that is not what
    ///   its type says.
    init(_ body: [UInt8]?, type: String?) throws(GatewayError) {
        guard let body else { throw .unsignable(.nothing) }
        mediaType = type ?? "application/octet-stream"
        let kind = String(mediaType.prefix { $0 != ";" }).trimmed.lowercased()
        if kind == "application/json" || kind.hasSuffix("+json") {
            guard let json = try? JSON(parsing: body) else { throw .unsignable(.content(reason: "it is not JSON")) }
            value = json
        } else if kind == FormBody.contentType {
            value = .object(try Self.fields(body).mapValues { .array($0.map(JSON.string)) })
        } else if kind.hasPrefix("text/") || kind == "application/xml" || kind.hasSuffix("+xml") {
            value = .string(try Self.text(body))
        } else {
            value = .string(Base64.encode(body, alphabet: .urlSafe, padded: false))
        }
    }

    private static func fields(_ form: [UInt8]) throws(GatewayError) -> [String: [String]] {
        var fields: [String: [String]] = [:]
        for field in form.split(separator: UInt8(ascii: "&")) {
            let name = field.prefix { $0 != UInt8(ascii: "=") }
            fields[try decoded(name), default: []].append(try decoded(field.dropFirst(name.count + 1)))
        }
        return fields
    }

    private static func decoded(_ part: some Sequence<UInt8>) throws(GatewayError) -> String {
        guard let bytes = PercentEncoding.decode(part, plusIsSpace: true) else {
            throw .unsignable(.content(reason: "it is not a form"))
        }
        return try text(bytes)
    }

    private static func text(_ bytes: [UInt8]) throws(GatewayError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .unsignable(.content(reason: "it is not UTF-8"))
        }
        return text
    }
}
