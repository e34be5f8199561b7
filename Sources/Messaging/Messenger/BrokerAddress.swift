import Cryptography

/// Where a broker listens.
public struct BrokerAddress: Sendable, Hashable {
    /// MQTT over TLS (IANA `secure-mqtt`, MAG 9.1).
    public static let standardPort = 8883
    /// MQTT without TLS (IANA `mqtt`).
    public static let plainPort = 1883

    /// A DNS name or an IP address, IPv6 without brackets; a link-local one with its zone, such as `fe80::1%eth0`.
    public var host: String
    /// 1 to 65,535.
    public var port: Int
    /// Where on the server MQTT is spoken over WebSocket (MQTT 3.1.1 section 6), such as `/mqtt`; `nil`: over TCP.
    public var webSocketPath: String?

    /// - Parameters:
    ///   - host: an IPv6 address also in brackets.
    ///   - webSocketPath: as ``isWebSocketPath(_:)`` has it.
    public init(host: String, port: Int = standardPort, webSocketPath: String? = nil) {
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        self.port = port
        self.webSocketPath = webSocketPath
    }

    /// Whether a text is a path, perhaps with a query, as it stands in a request (RFC 9112 section 3.2.1).
    public static func isWebSocketPath(_ text: String) -> Bool {
        text.hasPrefix("/") && text.utf8.count <= 1024
            && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "#") }
    }

    /// What a certificate can name: the host without its zone, which only this machine knows.
    public var certifiedHost: String { String(host.prefix { $0 != "%" }) }
}

extension BrokerAddress: CustomStringConvertible {
    /// `host:port`, and behind it the path of WebSocket.
    public var description: String {
        (host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)") + (webSocketPath ?? "")
    }
}

/// The credentials for one connection.
public struct BrokerCredentials: Sendable {
    /// `mag-identifier::master-client-id::user`, the user part only when a user is logged in (MAG 9.1).
    public var clientID: String
    public var userName: String?
    /// The access token.
    public var password: SecretBytes?
    /// `nil` connects without TLS: for public brokers and tests on the same machine.
    public var tls: TLSContext?

    public init(clientID: String, userName: String?, password: SecretBytes?, tls: TLSContext?) {
        self.clientID = clientID
        self.userName = userName
        self.password = password
        self.tls = tls
    }
}
