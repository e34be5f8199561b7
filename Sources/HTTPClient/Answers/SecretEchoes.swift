import FoundationEssentials
import Groundwork

/// Removes from an answer the request's secrets that it repeats.
///
/// The text of a refusal ends up in messages and logs. A server that repeats a wrong password must not put it there.
public struct SecretEchoes: Sendable {
    /// Names of the fields of a query or form that hold secrets.
    public var fields: Set<String>
    /// Names of the headers that hold secrets, in lower case.
    public var headers: Set<String>

    public init(fields: Set<String>, headers: Set<String>) {
        self.fields = fields
        self.headers = headers
    }

    private static let mark = Array("***".utf8)
    /// Shorter values may occur in any text by chance.
    private static let least = 4

    /// - Returns: the body with a mark in place of each secret of the request.
    public func removed(from body: [UInt8], of request: HTTPRequest) -> [UInt8] {
        // The longest first: one secret may be the beginning of another.
        let secrets = Set(secrets(of: request)).filter { $0.count >= Self.least }.sorted { $0.count > $1.count }
        return secrets.reduce(body) { Self.marked($1, in: $0) }
    }

    /// In one pass, as an answer may repeat a secret many times.
    private static func marked(_ secret: [UInt8], in body: [UInt8]) -> [UInt8] {
        var (marked, rest) = ([UInt8](), body[...])
        while let range = rest.firstRange(of: secret) {
            marked += rest[..<range.lowerBound] + mark
            rest = rest[range.upperBound...]
        }
        return marked + rest
    }

    private func secrets(of request: HTTPRequest) -> [[UInt8]] {
        let query = request.url.split(separator: "?", maxSplits: 1).dropFirst().first.map { Array($0.utf8) } ?? []
        let values = [query, request.body ?? []].flatMap { form -> [[UInt8]] in
            form.split(separator: UInt8(ascii: "&")).compactMap { field -> [UInt8]? in
                let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1)
                guard parts.count == 2, fields.contains(String(decoding: parts[0], as: UTF8.self)) else { return nil }
                return Array(parts[1])
            }
        }
        // Both as they were sent and as a person typed them.
        return credentials(in: request.headers) + values + values.map { PercentEncoding.decodeWherePossible($0) }
    }

    /// Tokens, and the passwords that Basic authentication holds in base64.
    private func credentials(in sent: HTTPHeaders) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for field in sent.fields where headers.contains(field.name.lowercased()) {
            let credential = String(field.value.split(separator: " ").last ?? "")
            found.append(Array(credential.utf8))
            if let pair = Base64.decode(credential), let colon = pair.firstIndex(of: UInt8(ascii: ":")) {
                found.append(Array(pair[(colon + 1)...]))
            }
        }
        return found
    }
}
