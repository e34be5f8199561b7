public import Cryptography
import Groundwork

/// A proxy that connects to brokers when it is asked with CONNECT (RFC 9110 section 9.3.6).
public struct BrokerProxy: Sendable, Equatable {
    /// A DNS name or an IP address, IPv6 without brackets.
    public let host: String
    public let port: Int
    /// What the proxy wants to know (RFC 7617); `nil`: nothing.
    public let user: String?
    public let password: SecretBytes?

    /// Why a text is not the URL of a proxy. Has nothing of the text, which may have a password in it.
    public enum Fault: Error, Equatable, CaseIterable {
        case tooLong, scheme, user, host, port, rest

        public var reason: String {
            switch self {
            case .tooLong: "it has more than \(BrokerProxy.limit) bytes"
            case .scheme: "it does not begin with http://, and MQTT passes proxies of this kind only"
            case .user: "its user and password are not percent-encoded text, or the user has a colon"
            case .host: "its host is neither a name nor an address"
            case .port: "its port is not a number from 1 to 65535"
            case .rest: "something follows after host and port"
            }
        }
    }

    /// The longest URL, in bytes.
    public static let limit = 1024
    /// The port without one in the URL, which is libcurl's (CURLOPT_PROXY(3)).
    public static let standardPort = 1080

    /// Reads `http://user:password@host:port`. User, password and port may be absent, and the scheme too, as
    /// in `https_proxy`.
    ///
    /// - Parameter password: in place of the one in the URL.
    public init(url: String, password replacement: SecretBytes? = nil) throws(Fault) {
        guard url.utf8.count <= Self.limit else { throw .tooLong }
        var rest = url.utf8[...]
        if let separator = url.firstRange(of: "://") {
            guard url[..<separator.lowerBound].lowercased() == "http" else { throw .scheme }
            rest = url.utf8[separator.upperBound...]
        }
        if let slash = rest.firstIndex(where: { "/?#".utf8.contains($0) }) {
            guard rest[slash...].elementsEqual("/".utf8) else { throw .rest }
            rest = rest[..<slash]
        }
        var (user, password): (String?, SecretBytes?)
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) {
            (user, password) = try Self.credentials(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        let (host, port) = try Self.place(rest)
        (self.host, self.port, self.user) = (host, port, user)
        self.password = replacement ?? password
    }

    private static func credentials(_ text: Substring.UTF8View) throws(Fault) -> (String, SecretBytes?) {
        let parts = text.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        // A colon in the user would end it for the proxy, and a control character the header (RFC 7617 section 2).
        guard let user = PercentEncoding.decode(parts[0]).flatMap({ String(validating: $0, as: UTF8.self) }),
            !user.isEmpty, !user.utf8.contains(where: { $0 < 32 || $0 == 127 || $0 == UInt8(ascii: ":") })
        else { throw .user }
        guard parts.count > 1 else { return (user, nil) }
        guard var secret = PercentEncoding.decode(parts[1]) else { throw .user }
        defer { wipe(&secret) }
        guard !secret.contains(where: { $0 < 32 || $0 == 127 }) else { throw .user }
        return (user, SecretBytes(secret))
    }

    private static func place(_ text: Substring.UTF8View) throws(Fault) -> (String, Int) {
        var (host, port) = (text, text[text.endIndex...])
        let isBracketed = text.first == UInt8(ascii: "[")
        if isBracketed {
            guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { throw .host }
            host = text[text.index(after: text.startIndex)..<end]
            port = text[text.index(after: end)...]
            guard host.contains(UInt8(ascii: ":")) else { throw .host }
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            (host, port) = (text[..<colon], text[colon...])
        }
        let name = String(decoding: host, as: UTF8.self)
        let isPart: (UInt8) -> Bool = {
            ASCII.isWord($0) || $0 == UInt8(ascii: ".") || isBracketed && ":%".utf8.contains($0)
        }
        guard (1...253).contains(host.count), host.allSatisfy(isPart) else { throw .host }
        guard let colon = port.popFirst() else { return (name, standardPort) }
        guard colon == UInt8(ascii: ":"), (1...5).contains(port.count),
            port.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let number = Int(String(decoding: port, as: UTF8.self)), (1...65_535).contains(number)
        else { throw .port }
        return (name, number)
    }

    /// The value of Proxy-Authorization (RFC 7617 section 2).
    var authorization: [UInt8]? {
        guard let user else { return nil }
        var pair = Array(user.utf8) + [UInt8(ascii: ":")]
        defer { wipe(&pair) }
        password?.withUnsafeBytes { pair += $0 }
        return Array("Basic \(Base64.encode(pair))".utf8)
    }
}

extension BrokerProxy: CustomStringConvertible, CustomReflectable {
    /// Host and port alone.
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    public var customMirror: Mirror { Mirror(self, children: ["address": description]) }
}
