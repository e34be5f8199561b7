/// The endpoints of the lab, by the numbers of MAG 0.1. `L` numbers are the lab's own demo API, `M` numbers
/// those of M-Pin (MPIN 5).
public enum Endpoint: String, Sendable, CaseIterable, Codable {
    case enrollment = "E1"
    case clientInitialization = "E2"
    case authorization = "E3"
    /// The login page of a browser.
    case login = "E3a"
    /// The page that asks the user to allow the requested scopes.
    case consent = "E3b"
    /// The provider `enterprise`: leads to the login page.
    case enterpriseLogin = "E3c"
    /// A social provider, which the path continues with a `/` and its name: leads to the login page.
    case socialLogin = "E3d"
    case registration = "E4"
    case clientRegistration = "E5"
    case renewal = "E6"
    case removal = "E7"
    case token = "E8"
    case revocation = "E9"
    case logout = "E10"
    case sessionStatus = "E11"
    case userinfo = "E12"
    /// The list of enterprise applications.
    case enterpriseBrowser = "E13"
    case deviceList = "E14"
    /// Continues with a `/` and the name of an attribute, or not.
    case deviceMetadata = "E15"
    /// Sends a one-time password.
    case oneTimePassword = "E16"
    case discovery = "E17"
    case keySet = "E18"
    /// A device authorizes another one; the path continues with a `/` and the session.
    case deviceAuthorization = "E19"
    /// Like ``deviceAuthorization``, with `/poll` after the session.
    case poll = "E20"
    /// Users, groups and schemas; continues with their paths.
    case scim = "E21"
    /// Cloud storage; continues with a segment and a key.
    case storage = "E22"
    /// `GET /lab/hello`: greets the bearer of any valid token.
    case hello = "L1"
    /// `POST /lab/echo`: returns the method, headers and body it was sent.
    case echo = "L2"
    /// `GET /lab/scoped/{scope}`: only for tokens with that scope.
    case scoped = "L3"
    /// A page of an enterprise application; continues with a `/` and its identifier.
    case webApp = "L4"
    /// `GET /lab/icons/{id}.png`: an icon, without credentials.
    case appIcon = "L5"
    /// `GET /lab/file/{bytes}`: a file of that length, also in parts.
    case file = "L6"
    /// `POST /lab/upload`: says what arrived, part by part if it is multipart.
    case upload = "L7"
    /// `GET /lab/refuse/{number}`: the API's own refusal, with that `x-ca-err`.
    case refuse = "L8"
    /// `POST /lab/signed`: only for signed bodies.
    case signed = "L30"
    /// `GET /lab/place/{anywhere or nowhere}`: only for callers who say where they are.
    case place = "L31"
    /// `GET /lab/telephone/{anyone or nobody}`: only for callers who say their telephone number.
    case telephone = "L32"
    /// What the QR code of a browser's session belongs to (MPIN 5.3).
    case mpinService = "M1"
    case mpinSettings = "M2"
    /// Registers and restarts (PUT), continued by a `/` and an M-Pin ID; activates (POST).
    case mpinUser = "M3"
    /// Continues with a `/` and an M-Pin ID, as ``mpinPermit`` does.
    case mpinSignature = "M4"
    /// Of D-TA 2, as ``mpinPermitShare``.
    case mpinSecret = "M5"
    case mpinPermit = "M6"
    /// Continues with application, day and user.
    case mpinStorage = "M7"
    case mpinPermitShare = "M8"
    case mpinPassOne = "M9"
    case mpinPassTwo = "M10"
    /// The relying party's; also for browsers.
    case mpinVerdict = "M11"
    case mpinMobileVerdict = "M12"
    case mpinCodeStatus = "M13"
    case mpinLogout = "M14"
    case mpinNumber = "M15"
    case mpinQRCode = "M16"
    case mpinPoll = "M17"
    case mpinOldPoll = "M18"

    /// Below the prefix. ``scoped``, ``file`` and ``refuse`` continue with a `/` and a value.
    public var path: String {
        switch self {
        case .enrollment: "/connect/device/config"
        case .clientInitialization: "/connect/client/initialize"
        case .authorization: "/auth/oauth/v2/authorize"
        case .login: "/auth/oauth/v2/authorize/login"
        case .consent: "/auth/oauth/v2/authorize/consent"
        case .enterpriseLogin: "/enterprise/login"
        case .socialLogin: "/social/login"
        case .registration: "/connect/device/register"
        case .clientRegistration: "/connect/device/register/client"
        case .renewal: "/connect/device/renew"
        case .removal: "/connect/device/remove"
        case .token: "/auth/oauth/v2/token"
        case .revocation: "/auth/oauth/v2/token/revoke"
        case .logout: "/connect/session/logout"
        case .sessionStatus: "/connect/session/status"
        case .userinfo: "/openid/connect/v1/userinfo"
        case .enterpriseBrowser: "/connect/enterprise/browser"
        case .deviceList: "/connect/device/list"
        case .deviceMetadata: "/connect/device/metadata"
        case .oneTimePassword: "/auth/generateOTP"
        case .discovery: "/.well-known/openid-configuration"
        case .keySet: "/openid/connect/jwks.json"
        case .deviceAuthorization, .poll: "/auth/device/authorization"
        case .hello: "/lab/hello"
        case .echo: "/lab/echo"
        case .scoped: "/lab/scoped"
        case .scim: "/SCIM/MAS/v2"
        case .storage: "/MASS/v1"
        case .webApp: "/connect/enterprise/browser/websso/authorize"
        case .appIcon: "/lab/icons"
        case .file: "/lab/file"
        case .upload: "/lab/upload"
        case .refuse: "/lab/refuse"
        case .signed: "/lab/signed"
        case .place: "/lab/place"
        case .telephone: "/lab/telephone"
        case .mpinService: "/mpin/service"
        case .mpinSettings: "/mpin/rps/clientSettings"
        case .mpinUser: "/mpin/rps/user"
        case .mpinSignature: "/mpin/rps/signature"
        case .mpinSecret: "/mpin-dta/clientSecret"
        case .mpinPermit: "/mpin/rps/timePermit"
        case .mpinStorage: "/mpin-permits"
        case .mpinPermitShare: "/mpin-dta/timePermit"
        case .mpinPassOne: "/mpin/rps/pass1"
        case .mpinPassTwo: "/mpin/rps/pass2"
        case .mpinVerdict: "/mpin/mpinAuthenticate"
        case .mpinMobileVerdict: "/mpin/rps/authenticate"
        case .mpinCodeStatus: "/mpin/rps/codeStatus"
        case .mpinLogout: "/mpin/logout"
        case .mpinNumber: "/mpin/rps/getAccessNumber"
        case .mpinQRCode: "/mpin/rps/getQrUrl"
        case .mpinPoll: "/mpin/rps/access"
        case .mpinOldPoll: "/mpin/rps/accessnumber"
        }
    }

    /// The endpoint's purpose in a few words.
    public var summary: String {
        switch self {
        case .enrollment: "hand out the configuration once"
        case .clientInitialization: "initialize a client"
        case .authorization: "start a login"
        case .login: "login page"
        case .consent: "consent page"
        case .enterpriseLogin: "enterprise login"
        case .socialLogin: "login by a social provider"
        case .registration: "register a device by a user"
        case .clientRegistration: "register a device by its client"
        case .renewal: "renew a certificate"
        case .removal: "remove a device"
        case .token: "issue tokens"
        case .revocation: "revoke a token"
        case .logout: "log a user out"
        case .sessionStatus: "status of a session"
        case .userinfo: "profile of the user"
        case .enterpriseBrowser: "enterprise applications"
        case .deviceList: "devices of the user"
        case .deviceMetadata: "metadata of a device"
        case .oneTimePassword: "delivery of one-time passwords"
        case .discovery: "OpenID discovery"
        case .keySet: "signing keys"
        case .deviceAuthorization: "authorize another device"
        case .poll: "poll whether it was authorized"
        case .hello: "greet any valid token"
        case .echo: "return what was sent"
        case .scoped: "for tokens with one scope"
        case .scim: "users and groups (SCIM)"
        case .storage: "cloud storage"
        case .webApp: "page of an application"
        case .appIcon: "icon of an application"
        case .file: "a file of any length"
        case .upload: "say what arrived"
        case .refuse: "refuse with a number"
        case .signed: "check a signed body"
        case .place: "demand a location"
        case .telephone: "demand a telephone number"
        case .mpinService: "M-Pin: what a QR code belongs to"
        case .mpinSettings: "M-Pin: client settings"
        case .mpinUser: "M-Pin: register a user"
        case .mpinSignature: "M-Pin: client secret, share 1"
        case .mpinSecret: "M-Pin: client secret, share 2"
        case .mpinPermit: "M-Pin: time permit, share 1"
        case .mpinStorage: "M-Pin: stored time permits"
        case .mpinPermitShare: "M-Pin: time permit, share 2"
        case .mpinPassOne: "M-Pin: pass 1"
        case .mpinPassTwo: "M-Pin: pass 2"
        case .mpinVerdict: "M-Pin: verdict"
        case .mpinMobileVerdict: "M-Pin: verdict with an access number"
        case .mpinCodeStatus: "M-Pin: session details"
        case .mpinLogout: "M-Pin: log out"
        case .mpinNumber: "M-Pin: browser asks for an access number"
        case .mpinQRCode: "M-Pin: browser asks for a QR code"
        case .mpinPoll: "M-Pin: browser polls"
        case .mpinOldPoll: "M-Pin: browser polls, older way"
        }
    }

    public var methods: [String] {
        switch self {
        case .enrollment, .authorization, .enterpriseLogin, .socialLogin, .sessionStatus, .userinfo, .enterpriseBrowser,
            .deviceList, .oneTimePassword, .discovery, .keySet, .poll, .hello, .scoped, .webApp, .appIcon, .file,
            .refuse, .place, .telephone, .mpinService, .mpinSettings, .mpinSignature, .mpinSecret, .mpinPermit,
            .mpinStorage, .mpinPermitShare:
            ["GET"]
        case .clientInitialization, .consent, .registration, .clientRegistration, .token, .logout, .echo, .signed,
            .mpinPassOne, .mpinPassTwo, .mpinVerdict, .mpinMobileVerdict, .mpinCodeStatus, .mpinLogout, .mpinNumber,
            .mpinQRCode, .mpinPoll, .mpinOldPoll:
            ["POST"]
        case .login, .deviceAuthorization: ["GET", "POST"]
        case .renewal: ["PUT"]
        case .removal: ["DELETE"]
        case .revocation: ["DELETE", "POST"]
        case .deviceMetadata: ["GET", "PUT", "DELETE"]
        case .scim: ["GET", "POST", "PUT", "PATCH", "DELETE"]
        case .storage: ["GET", "POST", "PUT", "DELETE"]
        case .upload, .mpinUser: ["POST", "PUT"]
        }
    }

    static let pollSuffix = "/poll"

    /// Those whose paths may continue.
    private static let trees: [Endpoint] = [
        .deviceMetadata, .scim, .storage, .webApp, .appIcon, .mpinUser, .mpinSignature, .mpinPermit, .mpinStorage,
    ]
    /// Those whose path continues with a `/` and a value of the caller's.
    private static let continued: [Endpoint] = [.scoped, .file, .refuse, .place, .telephone]

    /// Whether it belongs to M-Pin, whose refusals have no `x-ca-err`.
    var isOfMPin: Bool { rawValue.hasPrefix("M") }

    /// The longest body that is read, in bytes.
    var bodyLimit: Int { self == .upload ? 64 << 20 : WireRequest.bodyLimit }

    /// The endpoint that a path below the prefix belongs to.
    init?(at path: String) {
        if let endpoint = Self.continued.first(where: { path.hasPrefix($0.path + "/") }) {
            self = endpoint
        } else if path.hasPrefix(Endpoint.deviceAuthorization.path + "/") {
            self = path.hasSuffix(Self.pollSuffix) ? .poll : .deviceAuthorization
        } else if path.hasPrefix(Endpoint.socialLogin.path + "/") {
            self = .socialLogin
        } else if let tree = Self.trees.first(where: { path == $0.path || path.hasPrefix($0.path + "/") }) {
            self = tree
        } else {
            let found = Endpoint.allCases.first { endpoint in
                !(Self.continued + [.deviceAuthorization, .poll, .socialLogin]).contains(endpoint)
                    && endpoint.path == path
            }
            guard let found else { return nil }
            self = found
        }
    }
}
