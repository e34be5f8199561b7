/// An absolute `https` URL in parts, so that its trust and its credentials can be looked up by host and port.
///
/// Stricter than the URL standard: a text that two parsers could read differently is refused.
public struct HTTPSAddress: Sendable, Equatable {
    /// The longest text, in bytes.
    public static let lengthLimit = 8192

    /// As ``HostName/canonical(_:)`` writes it.
    public let host: String
    public let port: Int
    /// With the port and at least `/` as its path.
    public let url: String

    /// - Parameter path: as ``checkPath(_:)`` requires it, with the query.
    public init(host: String, port: Int, path: String) {
        self.host = host
        self.port = port
        url = "\(Self.scheme)\(host):\(port)\(path)"
    }

    /// - Throws: ``AddressFault`` for anything but an `https` URL with a DNS name or an IP address, IPv6 in brackets, and
    ///   without user name.
    public init(_ text: String) throws(AddressFault) {
        guard text.lowercased().hasPrefix(Self.scheme) else {
            throw AddressFault("it is neither a path nor an https URL")
        }
        try Self.checkCharacters(text)
        let rest = text.dropFirst(Self.scheme.count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains("@") else { throw AddressFault("it contains a user name") }
        let parts = HostName.split(authority)
        guard !parts.host.contains("%") else {
            throw AddressFault("its host has a zone, or is escaped; an address of one link cannot be used here")
        }
        guard let host = HostName.canonical(parts.host), parts.host.hasPrefix("[") == host.hasPrefix("[") else {
            throw AddressFault("its host is not a DNS name or an IP address, IPv6 in brackets")
        }
        let port = parts.port.map { Int($0) } ?? 443
        guard let port, (1...65_535).contains(port) else {
            throw AddressFault("its port is not a number from 1 to 65535")
        }
        let path = rest[end...]
        self.init(host: host, port: port, path: path.hasPrefix("/") ? String(path) : "/" + path)
    }

    private static let scheme = "https://"

    /// - Throws: ``AddressFault`` for anything but a path that begins with one slash: `//host` would name another
    ///   host, and a space or a line break would start another request.
    public static func checkPath(_ path: String) throws(AddressFault) {
        guard path.hasPrefix("/"), !path.hasPrefix("//") else {
            throw AddressFault("it does not begin with a single /")
        }
        try checkCharacters(path)
    }

    /// - Throws: ``AddressFault`` for a text that is too long, or contains a character that no URL contains unescaped
    ///   (RFC 3986 section 2). Allowed is visible ASCII except the fragment mark.
    public static func checkCharacters(_ text: String) throws(AddressFault) {
        guard text.utf8.count <= lengthLimit else { throw AddressFault("it is longer than \(lengthLimit) bytes") }
        let excluded = Array("#\"<>\\^`{|}".utf8)
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !excluded.contains($0) }) else {
            throw AddressFault("it has characters that must be percent-encoded")
        }
    }
}

/// Why a text is not an address. Does not quote the text.
public struct AddressFault: Error, Equatable {
    /// Completes a sentence about the text.
    public let reason: String

    init(_ reason: String) { self.reason = reason }
}
