public import Cryptography
import Groundwork

/// A gateway as its configuration document describes it (`msso_config.json`, MAG 1.1), complete and checked.
@dynamicMemberLookup
public struct GatewayConfiguration: Sendable, Equatable {
    /// The largest document accepted, in bytes: 1 MiB, as much as a vault record holds.
    public static let documentLimit = 1 << 20

    public let identity: GatewayIdentity
    /// `O` of the device's certificate request.
    public let organization: String
    /// The client id that an administrator set up; also part of the MQTT client id.
    public let masterClientID: String
    /// Set for static client credentials: client initialization is then never used (MAG 3).
    public let staticSecret: SecretBytes?
    /// Requested scopes, separated by single spaces; `nil` means the defaults of MAG 5.1.
    public let scope: String?
    public let redirectURI: String?
    /// A path below the gateway, or an absolute `https` URL, for each endpoint.
    public let endpoints: [GatewayEndpoint: String]
    /// Endpoints of the gateway's own APIs under the names the document gives them (`custom`).
    public let customEndpoints: [String: String]
    /// How the gateway must prove itself; the check of its name is a matter of this agent's settings.
    public let security: ServerSecurity
    /// Whether grants by credentials request a session (`msso`), and an id_token can be used to get access tokens.
    public let singleSignOn: Bool
    /// Whether calls say where the board is, if its settings let them (MAG 6.5).
    public let sendsLocation: Bool
    /// Whether calls say the board's telephone number, if its settings have one.
    public let sendsTelephoneNumber: Bool
    /// Bits of the device's RSA key, at least 2048 (MAG checklist 12).
    public let keyBits: Int
    /// Whether the document says that id_tokens are signed with a key that the gateway publishes.
    public let announcesPublishedKeys: Bool
    public let proximity: ProximityParameters
    /// Settings that are accepted but have no effect, each with the reason.
    public let warnings: [ConfigurationFault]
    /// Keys of the document that this agent does not know and ignored, as paths.
    public let ignoredKeys: [String]
    /// The document as it was received.
    public let bytes: [UInt8]

    public subscript<Value>(dynamicMember member: KeyPath<ServerSecurity, Value>) -> Value { security[keyPath: member] }

    /// The path of an endpoint, or its absolute URL.
    public func path(of endpoint: GatewayEndpoint) -> String { endpoints[endpoint] ?? endpoint.defaultPath }

    /// Bluetooth parameters (`mag.ble`); the protocol has no defaults for absent ones.
    public struct ProximityParameters: Sendable, Equatable {
        public let serviceUUID: String?
        public let characteristicUUID: String?
        /// The minimum received signal strength, in dBm.
        public let leastSignalStrength: Int
    }
}

extension GatewayConfiguration: CustomStringConvertible, CustomDebugStringConvertible {
    /// Omits the document because it may contain a client secret.
    public var description: String { "configuration of \(identity)" }
    public var debugDescription: String { description }
}
