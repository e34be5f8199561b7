import Cryptography
import Foundation
import Groundwork

/// The gateway's side of the protocol: a request and the state go in, an answer and the new state come out. Uses no
/// socket, file or clock; each endpoint is an extension in its own file.
struct GatewayCore: Sendable {
    let configuration: LabConfiguration
    let authority: Authority
    /// The port of the gateway, known only once it listens.
    var port = 0
    /// The port of the broker, if there is one.
    var brokerPort: Int?
    var state = LabState()
    /// By session id. They live for minutes, so a restarted lab starts without them.
    var authorizations: [String: Authorization] = [:]
    var oneTimePasswords = OneTimePasswords()
    /// The identifiers of signed bodies, and until when they are remembered.
    var seenSignatures: [String: Date] = [:]
    var mpin = MPinSessions()

    var baseURL: String { Self.baseURL(configuration, port: port) }

    /// `https://host:port[/prefix]`
    static func baseURL(_ configuration: LabConfiguration, port: Int) -> String {
        // An IPv6 address stands in brackets (RFC 3986 section 3.2.2).
        let host = configuration.host.contains(":") ? "[\(configuration.host)]" : configuration.host
        return "https://\(host):\(port)" + (configuration.prefix.isEmpty ? "" : "/\(configuration.prefix)")
    }

    /// Answers one request; an error that is not a ``GatewayFault`` becomes a fault ending in 000, with status 500.
    mutating func answer(_ request: WireRequest, at endpoint: Endpoint, now: Date) -> WireResponse {
        do {
            return try route(request, at: endpoint, now: now)
        } catch let fault as GatewayFault {
            return fault.response
        } catch {
            return GatewayFault(endpoint.errorPrefix + 0, status: 500, "server_error", "\(error)").response
        }
    }

    private mutating func route(_ request: WireRequest, at endpoint: Endpoint, now: Date) throws -> WireResponse {
        guard endpoint.methods.contains(request.method) else {
            // 405 says what is allowed and has no x-ca-err (MAG 0.4).
            var response = WireResponse.json(
                ["error": "invalid_request", "error_description": "method not allowed"],
                status: 405)
            response.headers.append(("Allow", endpoint.methods.joined(separator: ", ")))
            return response
        }
        if let demand = try demandOneTimePassword(request, at: endpoint, now: now) { return demand }
        switch endpoint {
        case .enrollment: return try enroll(request, now: now)
        case .clientInitialization: return try initializeClient(request, now: now)
        case .authorization: return try authorize(request, now: now)
        case .login: return try logIn(request, now: now)
        case .consent: return try consent(request, now: now)
        case .enterpriseLogin: return try enterpriseLogin(request, now: now)
        case .socialLogin: return try socialLogin(request, now: now)
        case .deviceAuthorization: return try authorizeDevice(request, now: now)
        case .poll: return try poll(request, now: now)
        case .registration: return try registerWithUser(request, now: now)
        case .clientRegistration: return try registerWithClient(request, now: now)
        case .renewal: return try renew(request, now: now)
        case .removal: return try remove(request, now: now)
        case .token: return try issueToken(request, now: now)
        case .revocation: return try revoke(request, now: now)
        case .logout: return try logOut(request, now: now)
        case .sessionStatus: return try sessionStatus(request, now: now)
        case .userinfo: return try userinfo(request, now: now)
        case .discovery: return discovery()
        case .keySet: return try keySet()
        case .enterpriseBrowser: return try enterpriseApps(request, now: now)
        case .webApp: return try webApp(request, now: now)
        case .appIcon: return try appIcon(request)
        case .deviceList: return try deviceList(request, now: now)
        case .deviceMetadata: return try deviceMetadata(request, now: now)
        case .scim: return scim(request, now: now)
        case .storage: return try storage(request, now: now)
        case .oneTimePassword: return try sendOneTimePassword(request, now: now)
        case .hello: return try hello(request, now: now)
        case .echo: return try echo(request, now: now)
        case .scoped: return try scoped(request, now: now)
        case .file: return try file(request, now: now)
        case .upload: return try upload(request, now: now)
        case .refuse: return try refuse(request, now: now)
        case .signed: return try signed(request, now: now)
        case .place: return try place(request, now: now)
        case .telephone: return try telephone(request, now: now)
        case .mpinService, .mpinSettings, .mpinUser, .mpinSignature, .mpinSecret, .mpinPermit, .mpinStorage,
            .mpinPermitShare, .mpinPassOne, .mpinPassTwo, .mpinVerdict, .mpinMobileVerdict, .mpinCodeStatus,
            .mpinLogout, .mpinNumber, .mpinQRCode, .mpinPoll, .mpinOldPoll:
            return answerMPin(request, at: endpoint, now: now)
        }
    }
}

extension Endpoint {
    /// The first digits of every `x-ca-err` from here, times 1000 (MAG 6.4). Endpoints without a number in the
    /// sources use that of the session API, as the worked exchange of MAG appendix A shows for a protected call.
    var errorPrefix: Int {
        switch self {
        case .registration, .renewal: 1_000_000
        case .removal: 1_001_000
        case .clientInitialization: 1_002_000
        case .clientRegistration: 1_007_000
        case .authorization, .enterpriseLogin, .socialLogin, .deviceAuthorization, .poll: 3_000_000
        case .login: 3_001_000
        case .consent: 3_002_000
        case .token: 3_003_000
        case .revocation: 3_004_000
        case .logout: 3_006_000
        case .discovery: 3_008_000
        case .keySet: 3_010_000
        case .oneTimePassword: 8_000_000
        case .deviceMetadata: 1_016_000
        case .sessionStatus, .userinfo, .enrollment, .enterpriseBrowser, .deviceList, .scim, .storage, .webApp,
            .appIcon, .hello, .echo, .scoped, .file, .upload, .refuse, .signed, .place,
            .telephone:
            3_007_000
        case .mpinService, .mpinSettings, .mpinUser, .mpinSignature, .mpinSecret, .mpinPermit, .mpinStorage,
            .mpinPermitShare, .mpinPassOne, .mpinPassTwo, .mpinVerdict, .mpinMobileVerdict, .mpinCodeStatus,
            .mpinLogout, .mpinNumber, .mpinQRCode, .mpinPoll, .mpinOldPoll:
            0  // M-Pin has no such numbers.
        }
    }
}
