import HTTPClient

/// The address of an endpoint: `https`, or plain `http` to this machine only (RFC 8252 section 8.3). Pure.
struct ServerAddress: Equatable {
    /// As it was written.
    let text: String
    let host: String
    /// Scheme, host and port, in one spelling.
    let origin: String
    let isProtected: Bool

    init?(_ text: String) {
        if let address = try? HTTPSAddress(text) {
            (host, isProtected) = (address.host, true)
            origin = "https://\(address.host):\(address.port)"
        } else {
            let scheme = "http://"
            guard text.hasPrefix(scheme), (try? HTTPSAddress.checkCharacters(text)) != nil else { return nil }
            let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" }
            guard let host = Self.loopback.first(where: { authority == $0 || authority.hasPrefix($0 + ":") }) else {
                return nil
            }
            let port = authority.count == host.count ? 80 : UInt16(authority.dropFirst(host.count + 1)).map(Int.init)
            guard let port, port > 0 else { return nil }
            (self.host, isProtected, origin) = (host, false, "\(scheme)\(host):\(port)")
        }
        self.text = text
    }

    private static let loopback = ["127.0.0.1", "localhost", "[::1]"]
}
