/// What was being done when something failed.
public enum GatewayOperation: String, Sendable, Equatable, CaseIterable {
    case fetchConfiguration = "fetch-configuration"
    case initializeClient = "initialize-client"
    case registerDevice = "register-device"
    case renewCertificate = "renew-certificate"
    case removeDevice = "remove-device"
    case obtainToken = "obtain-token"
    case revokeToken = "revoke-token"
    case discover = "discover"
    case fetchKeys = "fetch-keys"
    case call

    /// Completes "cannot …".
    var phrase: String {
        switch self {
        case .fetchConfiguration: "fetch the configuration"
        case .initializeClient: "initialize the client"
        case .registerDevice: "register the device"
        case .renewCertificate: "renew the device certificate"
        case .removeDevice: "remove the device"
        case .obtainToken: "obtain an access token"
        case .revokeToken: "revoke the tokens"
        case .discover: "read the gateway's discovery document"
        case .fetchKeys: "fetch the gateway's signing keys"
        case .call: "call the gateway"
        }
    }
}
