/// The operation that failed.
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
    case beginAuthorization = "begin-authorization"
    case pollAuthorization = "poll-authorization"
    case authorizeDevice = "authorize-device"
    case readUserInfo = "read-user-info"
    case readSessionStatus = "read-session-status"
    case logOut = "log-out"
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
        case .beginAuthorization: "begin an authorization"
        case .pollAuthorization: "ask whether the login was authorized"
        case .authorizeDevice: "authorize the other device"
        case .readUserInfo: "read who the user is"
        case .readSessionStatus: "read whether the session lasts"
        case .logOut: "log the user out"
        case .call: "call the gateway"
        }
    }
}
