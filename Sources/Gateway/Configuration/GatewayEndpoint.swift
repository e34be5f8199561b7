/// The gateway's own endpoints: their keys in the configuration document and their default paths (MAG 0.1, 1.1).
public enum GatewayEndpoint: String, Sendable, Hashable, CaseIterable {
    case authorize, token, revoke, logout, sessionStatus, userInfo
    case registerUser, registerClient, renew, remove, initialize, oneTimePassword
    case enterpriseBrowser, deviceList, deviceMetadata
    case scim, storage

    /// The paths in the document; the first one that is set is used. Client registration has two names (MAG quirk Q1),
    /// device metadata may be in either group.
    var paths: [String] {
        let oauth = "oauth.system_endpoints."
        let mag = "mag.system_endpoints."
        let protected = "mag.oauth_protected_endpoints."
        return switch self {
        case .authorize: [oauth + "authorization_endpoint_path"]
        case .token: [oauth + "token_endpoint_path"]
        case .revoke: [oauth + "token_revocation_endpoint_path"]
        case .logout: [oauth + "usersession_logout_endpoint_path"]
        case .sessionStatus: [oauth + "usersession_status_endpoint_path"]
        case .userInfo: ["oauth.oauth_protected_endpoints.userinfo_endpoint_path"]
        case .registerUser: [mag + "device_register_endpoint_path"]
        case .registerClient:
            [mag + "device_client_register_endpoint_path", mag + "device_register_client_endpoint_path"]
        case .renew: [mag + "device_renew_endpoint_path"]
        case .remove: [mag + "device_remove_endpoint_path"]
        case .initialize: [mag + "client_credential_init_endpoint_path"]
        case .oneTimePassword: [mag + "authenticate_otp_endpoint_path"]
        case .enterpriseBrowser: [protected + "enterprise_browser_endpoint_path"]
        case .deviceList: [protected + "device_list_endpoint_path"]
        case .deviceMetadata:
            [protected + "device_metadata_endpoint_path", mag + "device_metadata_endpoint_path"]
        case .scim: ["mas.scim-path"]
        case .storage: ["mas.mas-storage-path"]
        }
    }

    var defaultPath: String {
        switch self {
        case .authorize: "/auth/oauth/v2/authorize"
        case .token: "/auth/oauth/v2/token"
        case .revoke: "/auth/oauth/v2/token/revoke"
        case .logout: "/connect/session/logout"
        case .sessionStatus: "/connect/session/status"
        case .userInfo: "/openid/connect/v1/userinfo"
        case .registerUser: "/connect/device/register"
        case .registerClient: "/connect/device/register/client"
        case .renew: "/connect/device/renew"
        case .remove: "/connect/device/remove"
        case .initialize: "/connect/client/initialize"
        case .oneTimePassword: "/auth/generateOTP"
        case .enterpriseBrowser: "/connect/enterprise/browser"
        case .deviceList: "/connect/device/list"
        case .deviceMetadata: "/connect/device/metadata"
        case .scim: "/SCIM/MAS/v2"
        case .storage: "/MASS/v1"
        }
    }

    /// OpenID discovery: fixed, appended to the gateway's URL with its prefix (MAG 0.1, E17).
    static let discoveryPath = "/.well-known/openid-configuration"
}
