import Logging
import NIOCore

/// What a lab gateway is started with. The defaults give a complete gateway on ephemeral loopback ports that
/// remembers nothing.
public struct LabConfiguration: Sendable {
    /// The name by which boards reach the lab: it stands in URLs, in the configuration document and in the server
    /// certificate. A DNS name or an IP address.
    public var host = "localhost"
    /// The address the gateway and the broker listen on. The admin port is on loopback, whatever stands here.
    public var listenAddress = "127.0.0.1"
    /// 0 takes any free port; ``Lab/port`` says which.
    public var port = 0
    public var adminPort = 0
    public var brokerPort = 0
    /// A bare word without slashes, or empty (MAG 1.1).
    public var prefix = ""
    /// Where keys, registrations and the broker's messages are kept. `nil` keeps them in a temporary directory that
    /// goes when the lab stops.
    public var dataDirectory: String?
    /// Whether Mosquitto is started.
    public var broker = true
    /// The largest packet that the broker takes, in bytes; it ends the connection on a larger one.
    public var brokerPacketLimit = 1 << 20
    /// The broker's plugin; `nil` looks beside the running program.
    public var brokerPlugin: String?
    public var lives = Lives()
    public var masterClients = [MasterClient.agent]
    /// Where others can reach the lab, the passwords of ``LabUser/examples``, which everybody can read, give way to
    /// random ones; ``Lab/configuration`` has them.
    public var users = LabUser.examples
    /// How devices find each other for proximity log-in.
    public var proximity = ProximityBeacon()
    /// How id_tokens are signed (MAG 5.5).
    public var idTokenAlgorithm = IDTokenAlgorithm.hs256
    /// Whether the configuration document pins the gateway's public key.
    public var pinsServerKey = true
    /// Whether a registered device may work at once; if not, it awaits ``Lab/activate(magIdentifier:)``.
    public var activatesDevices = true
    /// Whether the client credentials grant is answered with a refresh token, and with an id_token where the scope has
    /// `openid` and `msso`. Production answers an access token alone.
    public var givesSessionsToClients = false
    /// Of what the lab itself says on standard error; its events have a journal of their own.
    public var logLevel = Logger.Level.error

    public init() {}

    /// Whether other machines can reach the gateway and the broker: a name or an address that is not loopback.
    public var isReachableByOthers: Bool {
        guard let address = try? SocketAddress(ipAddress: listenAddress, port: 0).ipAddress else {
            return listenAddress != "localhost"
        }
        // The whole of 127.0.0.0/8 is loopback (RFC 1122 section 3.2.1.3).
        return address != "::1" && !address.hasPrefix("127.")
    }
}

/// How long what the lab issues stays valid, in seconds (MAG 14.3).
public struct Lives: Sendable, Equatable {
    public var accessToken = 3600
    public var refreshToken = 604_800
    public var idToken = 86_400
    /// 0 is for ever.
    public var clientCredentials = 30 * 86_400
    /// Clients renew what ends within 30 days, so that less makes them renew before each call.
    public var deviceCertificate = 365 * 86_400
    public var enrollmentURL = 600
    /// From E3 until somebody has authorized the log-in.
    public var authorization = 120
    /// From then until the code is used.
    public var authorizationCode = 60

    public init() {}
}

/// The Bluetooth service of proximity log-in, as the configuration document names it (MAG 8.1).
public struct ProximityBeacon: Sendable, Equatable {
    public var service = "980c2f36-bde3-11e4-8dfc-aa07a5b093db"
    public var characteristic = "980c34cc-bde3-11e4-8dfc-aa07a5b093db"
    /// The weakest signal at which a board is near, in dBm.
    public var leastRSSI = -80

    public init() {}
}

/// A client as an administrator has set it up; the agent initializes its own credentials under it.
public struct MasterClient: Sendable, Equatable, Codable {
    public var clientID: String
    /// Set for static credentials: the client then never initializes (MAG 3).
    public var staticSecret: String?
    public var organization: String
    /// Space separated.
    public var scope: String
    /// Where a browser goes with an authorization code; empty for a client that nobody logs in with.
    public var redirectURI: String

    public init(
        clientID: String, staticSecret: String? = nil, organization: String = "Latchkey Lab",
        scope: String = MasterClient.defaultScope, redirectURI: String = "latchkey://callback"
    ) {
        self.clientID = clientID
        self.staticSecret = staticSecret
        self.organization = organization
        self.scope = scope
        self.redirectURI = redirectURI
    }

    public static let defaultScope =
        "openid msso phone profile address email msso_client_register msso_register mas_messaging mas_storage mas_identity"

    /// The client of the boards.
    public static let agent = MasterClient(clientID: "5c0e7a11-1ab0-4f6e-8d1e-1a7c4e1a9e47")
}

/// A person who can log in with a password.
public struct LabUser: Sendable, Equatable {
    /// `preferred_username`: the user's id everywhere.
    public var name: String
    public var password: String
    public var givenName: String
    public var familyName: String
    public var phoneNumber: String?
    /// By the names of OpenID Connect Core 5.1.1, such as `locality`.
    public var address: [String: String]

    public init(
        name: String, password: String, givenName: String, familyName: String, phoneNumber: String? = nil,
        address: [String: String] = [:]
    ) {
        self.name = name
        self.password = password
        self.givenName = givenName
        self.familyName = familyName
        self.phoneNumber = phoneNumber
        self.address = address
    }

    public static let examples = [
        LabUser(
            name: "alice", password: "alice-password", givenName: "Alice", familyName: "Archer",
            phoneNumber: "+1 555 0101",
            address: [
                "street_address": "1 Key Lane", "locality": "Locksmith", "region": "Lab", "postal_code": "00001",
                "country": "XX",
            ]),
        LabUser(name: "bob", password: "bob-password", givenName: "Bob", familyName: "Baker"),
    ]
}

public enum IDTokenAlgorithm: String, Sendable, CaseIterable {
    /// With the client secret as key.
    case hs256 = "HS256"
    /// With the lab's signing key, published at the JWKS endpoint.
    case rs256 = "RS256"
}
