import Groundwork
import HTTPClient

/// The identity of a gateway: host name, port and prefix (MAG 1.2). Configurations with equal ones mean the same
/// gateway.
public struct GatewayIdentity: Hashable, Sendable {
    /// Lower case.
    public let host: String
    public let port: Int
    /// Without leading and trailing slashes; may be empty (MAG quirk Q15).
    public let prefix: String

    public init(host: String, port: Int, prefix: String) {
        self.host = HostName.canonical(host) ?? host.lowercased()
        self.port = port
        self.prefix = String(prefix.trimming { $0 == "/" })
    }

    /// The scope under which the vault keeps everything of this gateway: `host:port/prefix`.
    public var scope: String { "\(host):\(port)/\(prefix)" }

    /// `https://host:port[/prefix]`, to which a path is appended.
    public var baseURL: String { "https://\(host):\(port)" + prefixPath }

    /// The prefix with a leading slash; empty if there is no prefix.
    var prefixPath: String { prefix.isEmpty ? "" : "/" + prefix }

    /// Parses ``scope``.
    init?(scope: String) {
        guard let slash = scope.firstIndex(of: "/"), let colon = scope[..<slash].lastIndex(of: ":"),
            colon != scope.startIndex, let port = Int(scope[scope.index(after: colon)..<slash])
        else { return nil }
        self.init(host: String(scope[..<colon]), port: port, prefix: String(scope[scope.index(after: slash)...]))
    }
}

extension GatewayIdentity: CustomStringConvertible {
    public var description: String { baseURL }
}
