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

    /// - Parameter host: an IPv6 address also in brackets.
    public init(host: String, port: Int = standardPort) {
        self.host = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        self.port = port
    }

    /// What a certificate can name: the host without its zone, which only this machine knows.
    public var certifiedHost: String { String(host.prefix { $0 != "%" }) }
}

extension BrokerAddress: CustomStringConvertible {
    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
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
