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
        fields.map { percentEncoded($0.name) + "=" + percentEncoded($0.value) }.joined(separator: "&")
    }

    public var bytes: [UInt8] { Array(text.utf8) }
}

/// Percent-encodes every UTF-8 byte except letters, digits and `-._~` (RFC 3986 section 2.3); a space is `%20`.
public func percentEncoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            bytes.append(byte)
        default:
            bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    return String(decoding: bytes, as: UTF8.self)
}
