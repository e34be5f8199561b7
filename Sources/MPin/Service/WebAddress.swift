import HTTPClient

/// An address that requests are sent to: `https`, or plain `http` to this machine only. Pure.
struct WebAddress: Equatable {
    /// As it was written.
    let text: String
    let host: String
    let isProtected: Bool

    /// - Returns: `nil` for anything else.
    init?(_ text: String) {
        self.text = text
        if let address = try? HTTPSAddress(text) {
            (host, isProtected) = (address.host, true)
            return
        }
        guard text.hasPrefix(Self.scheme), (try? HTTPSAddress.checkCharacters(text)) != nil else { return nil }
        let authority = text.dropFirst(Self.scheme.count).prefix { $0 != "/" && $0 != "?" }
        guard let host = Self.loopback.first(where: { authority == $0 || authority.hasPrefix($0 + ":") }) else {
            return nil
        }
        if authority.count > host.count {
            guard let port = UInt16(authority.dropFirst(host.count + 1)), port > 0 else { return nil }
        }
        (self.host, isProtected) = (host, false)
    }

    private static let scheme = "http://"
    private static let loopback = ["127.0.0.1", "localhost", "[::1]"]
}
