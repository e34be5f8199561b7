import Groundwork
import HTTPClient

/// A URL by which another device asks to be authorized (MAG 7.3), found to be this gateway's. Pure.
///
/// It comes from a stranger, over Bluetooth or out of a QR code, and is called with the user's token. So nothing of it is
/// used but what follows the gateway's own address, and only where a server cannot read that as another path.
public struct ProviderURL: Sendable, Equatable {
    /// The longest text, in bytes.
    public static let limit = 4096

    /// Below the gateway, with the query: begins with one `/`.
    let path: String

    /// - Parameter text: the URL, or `{"provider_url": URL}`; blanks around it do not count.
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

    /// `host:port` alone: no user, no other way to write the port, and at most the one dot that ends a whole name.
    private static func isAuthority(_ text: Substring, of gateway: GatewayIdentity) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count) else { return false }
        let port = parts.count == 2 ? String(parts[1]) : "443"
        let host = parts[0].lowercased()
        return port == String(gateway.port) && (host == gateway.host || host == gateway.host + ".")
    }

    /// What one reader of URLs takes for a path and another for a different one is refused: dot segments, empty segments,
    /// and escapes of characters that need none.
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

    /// Without the query.
    var pathAlone: Substring { path.prefix { $0 != "?" } }
    /// What follows the first `?`; `nil` where there is none.
    var query: Substring? { path.firstIndex(of: "?").map { path[path.index(after: $0)...] } }
}
