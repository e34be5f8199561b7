/// An address that requests are sent to: `https`, or plain `http` to this machine only (RFC 8252 section 8.3). Pure.
public struct WebAddress: Sendable, Equatable {
    /// As it was written.
    public let text: String
    public let host: String
    /// Scheme, host and port, in one spelling.
    public let origin: String
    /// Whether it is `https`.
    public let isProtected: Bool

    /// - Returns: `nil` for anything else.
    public init?(_ text: String) {
        self.text = text
        if let address = try? HTTPSAddress(text) {
            (host, isProtected) = (address.host, true)
            origin = "https://\(address.host):\(address.port)"
            return
        }
        guard text.hasPrefix(Self.scheme), (try? HTTPSAddress.checkCharacters(text)) != nil else { return nil }
        let authority = text.dropFirst(Self.scheme.count).prefix { $0 != "/" && $0 != "?" }
        guard let host = Self.loopback.first(where: { authority == $0 || authority.hasPrefix($0 + ":") }) else {
            return nil
        }
        let port = authority.count == host.count ? 80 : UInt16(authority.dropFirst(host.count + 1))
        guard let port, port > 0 else { return nil }
        (self.host, isProtected, origin) = (host, false, "\(Self.scheme)\(host):\(port)")
    }

    private static let scheme = "http://"
    private static let loopback = ["127.0.0.1", "localhost", "[::1]"]
}
