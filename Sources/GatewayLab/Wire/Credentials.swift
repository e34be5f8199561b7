import Groundwork

/// The content of an `Authorization` or `client-authorization` header.
enum Credentials: Equatable {
    case basic(name: String, password: String)
    case bearer(String)

    /// Reads `Basic` (RFC 7617, UTF-8) and `Bearer` (RFC 6750), scheme in any case.
    /// - Returns: `nil` for anything else.
    init?(header: String) {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let value = parts[1].trimmed
        switch parts[0].lowercased() {
        case "basic":
            guard let bytes = Base64.decode(value), let text = String(validating: bytes, as: UTF8.self),
                let colon = text.firstIndex(of: ":")
            else { return nil }
            self = .basic(name: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
        case "bearer":
            guard !value.isEmpty, !value.contains(" ") else { return nil }
            self = .bearer(value)
        default: return nil
        }
    }
}
