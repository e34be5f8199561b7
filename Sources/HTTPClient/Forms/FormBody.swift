import Groundwork

/// A body of `application/x-www-form-urlencoded`, every byte outside RFC 3986's unreserved set percent-encoded.
///
///     request.headers.set("Content-Type", FormBody.contentType)
///     request.body = FormBody([("grant_type", "client_credentials")]).bytes
public struct FormBody: Sendable {
    public static let contentType = "application/x-www-form-urlencoded"

    /// The fields in order; names may repeat.
    public private(set) var fields: [(name: String, value: String)] = []

    public init(_ fields: [(String, String)] = []) {
        for (name, value) in fields { add(name, value) }
    }

    public mutating func add(_ name: String, _ value: String) { fields.append((name, value)) }

    public var text: String {
        fields.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }.joined(separator: "&")
    }

    public var bytes: [UInt8] { Array(text.utf8) }
}
