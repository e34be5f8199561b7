import Groundwork
import HTTPClient

/// A URL with which another device asks to be authorized (MAG 7.3), checked to be this gateway's. Pure.
///
/// It comes from a stranger, over Bluetooth or from a QR code, and is called with the user's token. So only the part
/// after the gateway's own address is used, and only if a server cannot read it as another path.
public struct ProviderURL: Sendable, Equatable {
    /// The maximum length, in bytes.
    public static let limit = 4096

    /// The path below the gateway, with the query; begins with one `/`.
    let path: String

    /// - Parameter text: the URL, or `{"provider_url": URL}`; blanks around it are ignored.
    /// - Throws: ``GatewayError/providerURLInvalid(reason:)``, ``GatewayError/providerURLForeign(gateway:)``
    public init(_ text: String, at gateway: GatewayIdentity) throws(GatewayError) {
        let url = try Self.url(in: text)
        let scheme = "https://"
        guard url.lowercased().hasPrefix(scheme) else { throw .providerURLForeign(gateway: gateway) }
        let rest = url.dropFirst(scheme.count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard Self.isAuthority(rest[..<end], of: gateway) else { throw .providerURLForeign(gateway: gateway) }
        let prefix = gateway.prefixPath
        guard rest[end...].hasPrefix(prefix + "/") else { throw .providerURLForeign(gateway: gateway) }
        path = String(rest[end...].dropFirst(prefix.utf8.count))
        try Self.check(path)
    }

    private static func url(in text: String) throws(GatewayError) -> String {
        guard text.utf8.count <= limit else { throw .providerURLInvalid(reason: "it is longer than \(limit) bytes") }
        var content = text.trimming(while: \.isWhitespace)
        if content.first == "{" {
            guard let url = (try? JSON(parsing: content.utf8, limit: limit))?["provider_url"]?.string else {
                throw .providerURLInvalid(reason: "it is JSON without a provider_url")
            }
            content = url[...]
        }
        guard !content.isEmpty else { throw .providerURLInvalid(reason: "it is empty") }
        do {
            try HTTPSAddress.checkCharacters(String(content))
        } catch {
            throw .providerURLInvalid(reason: "it has characters that must be percent-encoded")
        }
        return String(content)
    }

    /// Accepts only `host:port`: no user, no other spelling of the port, and at most one dot at the end of the name.
    private static func isAuthority(_ text: Substring, of gateway: GatewayIdentity) -> Bool {
        let parts = HostName.split(text)
        guard (parts.port ?? "443") == String(gateway.port) else { return false }
        if parts.host.hasPrefix("[") { return HostName.canonical(parts.host) == gateway.host }
        let host = parts.host.lowercased()
        return host == gateway.host || host == gateway.host + "."
    }

    /// Refuses paths that two URL parsers may read differently: dot segments, empty segments, and escapes of characters
    /// that need none.
    private static func check(_ path: String) throws(GatewayError) {
        let segments = path.prefix { $0 != "?" }.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard !segments.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else {
            throw .providerURLInvalid(reason: "its path has empty or dot segments")
        }
        for segment in segments {
            for escape in segment.split(separator: "%", omittingEmptySubsequences: false).dropFirst() {
                guard let byte = Hex.decode(String(escape.prefix(2)))?.first, byte > 0x20, byte != 0x7F,
                    !PercentEncoding.isUnreserved(byte), byte != UInt8(ascii: "/"), byte != UInt8(ascii: "\\"),
                    byte != UInt8(ascii: "%")
                else { throw .providerURLInvalid(reason: "its path has escapes that a path does not need") }
            }
        }
    }

    /// The path without the query.
    var pathAlone: Substring { path.prefix { $0 != "?" } }
    /// The text after the first `?`; `nil` if there is none.
    var query: Substring? { path.firstIndex(of: "?").map { path[path.index(after: $0)...] } }
}
