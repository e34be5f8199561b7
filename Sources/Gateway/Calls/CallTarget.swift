import Groundwork

/// Where a request goes: an `https` URL in parts, so that what it proves and what it gets can be looked up by host and port.
struct CallTarget: Equatable {
    static let lengthLimit = 8192

    /// Lower case.
    let host: String
    let port: Int
    let url: String

    /// A path below the gateway, or an absolute URL.
    static func resolve(_ address: String, at gateway: GatewayIdentity) throws(GatewayError) -> CallTarget {
        if address.hasPrefix("/") {
            let path = try checkedPath(address)
            return CallTarget(host: gateway.host, port: gateway.port, url: gateway.baseURL + path)
        }
        return try absolute(address)
    }

    /// - Throws: ``GatewayError/pathInvalid(reason:)`` for anything but a path that begins with one slash: `//host` would
    ///   name another host, and a blank or a line break another request.
    static func checkedPath(_ path: String) throws(GatewayError) -> String {
        guard path.hasPrefix("/"), !path.hasPrefix("//") else {
            throw .pathInvalid(reason: "it does not begin with a single /")
        }
        try checkCharacters(path)
        return path
    }

    static func absolute(_ text: String) throws(GatewayError) -> CallTarget {
        let scheme = "https://"
        guard text.lowercased().hasPrefix(scheme) else { throw .pathInvalid(reason: "it is neither a path nor an https URL") }
        try checkCharacters(text)
        let rest = text.dropFirst(scheme.count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains("@") else { throw .pathInvalid(reason: "it holds a user name") }
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), ConfigurationParser.isHostName(String(parts[0])) else {
            throw .pathInvalid(reason: "its host is not a DNS name or IPv4 address")
        }
        let port = parts.count == 2 ? Int(parts[1]) : 443
        guard let port, (1...65_535).contains(port) else { throw .pathInvalid(reason: "its port is not a number from 1 to 65535") }
        let host = parts[0].lowercased()
        let path = rest[end...]
        return CallTarget(host: host, port: port, url: "\(scheme)\(host):\(port)" + (path.hasPrefix("/") ? path : "/" + path))
    }

    static func checkCharacters(_ text: String) throws(GatewayError) {
        guard text.utf8.count <= lengthLimit else { throw .pathInvalid(reason: "it is longer than \(lengthLimit) bytes") }
        // Visible ASCII without the fragment mark and what no URL holds unescaped (RFC 3986 section 2).
        let excluded = Array("#\"<>\\^`{|}".utf8)
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !excluded.contains($0) }) else {
            throw .pathInvalid(reason: "it has characters that must be percent-encoded")
        }
    }
}
