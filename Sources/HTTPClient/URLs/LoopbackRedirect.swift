import Groundwork

/// A redirect URI on the machine's own loopback interface, where a program waits for the browser (RFC 8252 section
/// 7.3). Pure.
public enum LoopbackRedirect {
    /// The most bytes of a browser's request that are read.
    public static let limit = 8192

    /// The address to request: the configured one, with the program's port if it is on the loopback interface and has
    /// none of its own.
    ///
    /// - Parameter port: where the program listens; `nil` if none does.
    public static func address(_ configured: String?, port: UInt16?) -> String? {
        guard let configured, let port, let parts = parts(of: configured), parts.port == nil else { return configured }
        return "\(scheme)\(parts.host):\(port)\(parts.rest)"
    }

    /// The port of a redirect URI on the loopback interface; `nil` if it is elsewhere, or has none.
    public static func port(of address: String) -> UInt16? { parts(of: address)?.port }

    /// Whether a redirect URI on the loopback interface is on that of IPv6.
    public static func isIPv6(_ address: String) -> Bool { parts(of: address)?.host == "[::1]" }

    private static let scheme = "http://"

    private static func parts(of address: String) -> (host: String, port: UInt16?, rest: Substring)? {
        guard address.lowercased().hasPrefix(scheme) else { return nil }
        let rest = address.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        for host in ["127.0.0.1", "[::1]", "localhost"] where authority.lowercased().hasPrefix(host) {
            let after = authority.dropFirst(host.count)
            if after.isEmpty { return (host, nil, rest[authority.endIndex...]) }
            guard after.first == ":", let port = UInt16(after.dropFirst()), port > 0 else { return nil }
            return (host, port, rest[authority.endIndex...])
        }
        return nil
    }

    /// The address that a browser asks a loopback listener for, by the head of its request.
    ///
    /// - Returns: `nil` for anything but a GET of the redirect URI's path with a query.
    public static func answer(in head: [UInt8], redirectURI: String) -> String? {
        guard head.count <= limit, let parts = parts(of: redirectURI),
            let line = String(validating: head.prefix { $0 != 0x0D && $0 != 0x0A }, as: UTF8.self)
        else { return nil }
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[0] == "GET", words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else { return nil }
        let path = parts.rest.prefix { $0 != "?" && $0 != "#" }
        guard let mark = words[1].firstIndex(of: "?"), words[1][..<mark] == (path.isEmpty ? "/" : path) else {
            return nil
        }
        let address = redirectURI.prefix { $0 != "?" && $0 != "#" }
        return String(address) + words[1][mark...]
    }
}
