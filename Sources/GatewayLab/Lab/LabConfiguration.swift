import Logging
import NIOCore

/// The configuration of a lab gateway. The defaults give a complete gateway on ephemeral loopback ports that keeps
/// nothing.
public struct LabConfiguration: Sendable {
    /// The name by which boards reach the lab: it is used in URLs, in the configuration document and in the server
    /// certificate. A DNS name or an IP address.
    public var host = "localhost"
    /// The address the gateway and the broker listen on. The admin port is always on loopback.
    public var listenAddress = "127.0.0.1"
    /// 0 takes any free port, which is then in ``Lab/port``.
    public var port = 0
    public var adminPort = 0
    public var brokerPort = 0
    /// A bare word without slashes, or empty (MAG 1.1).
    public var prefix = ""
    /// Where keys, registrations and the broker's messages are kept. `nil` keeps them in a temporary directory that
    /// is removed when the lab stops.
    public var dataDirectory: String?
    /// Whether Mosquitto is started.
    public var broker = true
    /// The largest packet that the broker accepts, in bytes; it closes the connection on a larger one.
    public var brokerPacketLimit = 1 << 20
    /// Whose connections the broker accepts: the protocol's clients are users, and a board without one is not in it
    /// (MAG 9.1), so a real broker may accept either or both.
    public var brokerClients = BrokerClients.all
    /// The groups that messages can be sent to, with the names of their members.
    public var messageGroups = ["household": ["alice", "bob"], "operators": ["alice"]]
    /// The broker's plugin; `nil` looks beside the running program.
    public var brokerPlugin: String?
    public var lives = Lives()
    public var masterClients = [MasterClient.agent]
    /// If other machines can reach the lab, the publicly known passwords of ``LabUser/examples`` are replaced by
    /// random ones, which are in ``Lab/configuration``.
    public var users = LabUser.examples
    /// How devices find each other for proximity login.
    public var proximity = ProximityBeacon()
    /// How id_tokens are signed (MAG 5.5).
    public var idTokenAlgorithm = IDTokenAlgorithm.hs256
    /// What the list of providers says is to be used: `all`, `enterprise`, or the name of one (MAG 7.1).
    public var identityProvider = "all"
    /// The social providers, all played by the lab with its own people.
    public var socialProviders = ["facebook", "google", "salesforce", "linkedin"]
    /// Whether the configuration document pins the gateway's public key.
    public var pinsServerKey = true
    /// Whether a registered device is active at once; if not, it awaits ``Lab/activate(magIdentifier:)``.
    public var activatesDevices = true
    /// Whether the client credentials grant is answered with a refresh token, and with an id_token if the scope has
    /// `openid` and `msso`. Production gateways only return an access token.
    public var givesSessionsToClients = false
    /// Whether the configuration document lets boards say where they are.
    public var locationEnabled = false
    /// Whether the configuration document lets boards say their telephone number.
    public var telephoneNumberEnabled = false
    /// How the M-Pin back end behaves at the start.
    public var mpin = MPinPolicy()
    /// Level of the lab's own log on standard error; its events have their own journal.
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

/// Lifetimes of everything that the lab issues, in seconds (MAG 14.3).
public struct Lives: Sendable, Equatable {
    public var accessToken = 3600
    public var refreshToken = 604_800
    public var idToken = 86_400
    /// 0 means forever.
    public var clientCredentials = 30 * 86_400
    /// Clients renew certificates that end within 30 days, so a shorter lifetime makes them renew before each call.
    public var deviceCertificate = 365 * 86_400
    public var enrollmentURL = 600
    /// From E3 until a user has authorized the login.
    public var authorization = 120
    /// From then until the code is used.
    public var authorizationCode = 60

    public init() {}
}

/// The Bluetooth service of proximity login, as the configuration document names it (MAG 8.1).
public struct ProximityBeacon: Sendable, Equatable {
    public var service = "980c2f36-bde3-11e4-8dfc-aa07a5b093db"
    public var characteristic = "980c34cc-bde3-11e4-8dfc-aa07a5b093db"
    /// The weakest signal at which a board counts as nearby, in dBm.
    public var leastRSSI = -80

    public init() {}
}

/// A client set up by an administrator; the agent initializes its own credentials under it.
public struct MasterClient: Sendable, Equatable, Codable {
    public var clientID: String
    /// Set for static credentials: the client then never initializes (MAG 3).
    public var staticSecret: String?
    public var organization: String
    /// Space separated.
    public var scope: String
    /// Where a browser takes an authorization code; empty for a client that users do not log in with. A program of
    /// the browser's own machine names its port when it asks (RFC 8252 section 7.3).
    public var redirectURI: String

    public init(
        clientID: String, staticSecret: String? = nil, organization: String = "Latchkey Lab",
        scope: String = MasterClient.defaultScope, redirectURI: String = "http://127.0.0.1/callback"
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
    /// With the names of OpenID Connect Core section 5.1.1, such as `locality`.
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

/// Whose connections the lab's broker accepts.
public enum BrokerClients: String, Sendable, CaseIterable {
    case all
    /// Only those with a user's token.
    case users
    /// Only those with a device's own token.
    case boards
}

public enum IDTokenAlgorithm: String, Sendable, CaseIterable {
    /// With the client secret as key.
    case hs256 = "HS256"
    /// With the lab's signing key, published at the JWKS endpoint.
    case rs256 = "RS256"
}
