import FoundationEssentials
public import Groundwork

extension GatewayEvent: ReportedEvent {
    public static let meanings = SessionLockEvent.meanings.merging([
        "gateway.authorization-did-arrive": "a browser came back from a login with an authorization code",
        "gateway.authorization-did-fail": "a browser came back from a login without an authorization code",
        "gateway.client-did-fail-to-initialize": "the gateway gave the board no client credentials",
        "gateway.client-did-initialize": "the gateway gave the board client credentials",
        "gateway.client-will-initialize": "the board asks the gateway for client credentials",
        "gateway.device-awaits-activation": "the board is registered, and an administrator must activate it",
        "gateway.device-did-activate": "an administrator has activated the board",
        "gateway.device-did-deregister": "the board was removed at the gateway",
        "gateway.device-did-fail-to-deregister": "the board could not be removed at the gateway; nothing has changed",
        "gateway.device-did-fail-to-register": "the board could not be registered",
        "gateway.device-did-fail-to-renew": "the device certificate could not be renewed; the old one stays in use",
        "gateway.device-did-register": "the board is registered at the gateway",
        "gateway.device-did-renew": "the device certificate was renewed",
        "gateway.device-did-reset-locally": "the board's identity was forgotten here; the gateway was not notified",
        "gateway.device-will-deregister": "the board is being removed at the gateway",
        "gateway.device-will-register": "the board is being registered at the gateway",
        "gateway.device-will-renew": "the device certificate is being renewed",
        "gateway.did-switch": "another gateway is now active; the registration at the former one is kept",
        "gateway.registration-did-drop": "the gateway no longer knows the board; its registration was dropped",
        "gateway.token-did-arrive": "the board has a new access token",
        "gateway.token-did-fail": "the board could not get an access token",
        "gateway.tokens-did-revoke": "the tokens were revoked at the gateway",
        "gateway.user-authentication-required": "a call needs a user, but no user is logged in on the board",
        "gateway.user-did-authenticate": "a user has logged in on the board",
        "gateway.user-did-fail-to-authenticate": "a user could not log in",
        "gateway.user-did-fail-to-logout": "the user could not be logged out at the gateway",
        "gateway.user-did-fail-to-update-information":
            "the gateway gave no information about the user; the stored information is kept",
        "gateway.user-did-logout": "the user is logged out on the board",
        "gateway.user-did-update-information": "the gateway's information about the user was read and stored",
        "gateway.user-token-did-arrive": "there is a new access token of the user",
        "gateway.user-will-authenticate": "a user is logging in",
        "gateway.user-will-logout": "the user is being logged out",
        "gateway.user-will-update-information": "the gateway is asked for information about the user",
        "gateway.will-switch": "another gateway is about to become the active one",
    ]) { own, _ in own }

    public static var details: [String: Schema] {
        ["expires": .time("when the token expires")]
    }

    public var report: EventReport {
        switch self {
        case .willSwitchGateway(_, let to): EventReport("gateway.will-switch", .routine, "switching to \(to)")
        case .didSwitchGateway(let from, let to):
            EventReport(
                "gateway.did-switch", .notable,
                "switched to \(to)" + (from.map { "; the registration at \($0) is kept" } ?? ""), ends: .ofRegistration)

        case .clientWillInitialize: EventReport("gateway.client-will-initialize", .routine, "initializing the client")
        case .clientDidInitialize(let id, let expires):
            EventReport(
                "gateway.client-did-initialize", .notable,
                "client initialized as \(id)" + (expires.map { ", until \($0.formatted(.iso8601))" } ?? ""))
        case .clientDidFailToInitialize(let error):
            EventReport("gateway.client-did-fail-to-initialize", error: error, raises: .credentials)

        case .deviceWillRegister(let id):
            EventReport("gateway.device-will-register", .routine, "registering device \(id)")
        case .deviceDidRegister(let magIdentifier):
            EventReport(
                "gateway.device-did-register", .notable, "registered as \(magIdentifier)", ends: .ofRegistration)
        case .deviceAwaitsActivation(let magIdentifier):
            EventReport(
                "gateway.device-awaits-activation", .notable,
                "registered as \(magIdentifier), awaiting activation")
        case .deviceDidActivate(let magIdentifier):
            EventReport("gateway.device-did-activate", .notable, "\(magIdentifier) was activated")
        case .deviceDidFailToRegister(let error):
            EventReport("gateway.device-did-fail-to-register", error: error, raises: .credentials)

        case .deviceWillRenew(let notAfter):
            EventReport(
                "gateway.device-will-renew", .routine,
                "renewing the device certificate, which ends \(notAfter.formatted(.iso8601))")
        case .deviceDidRenew(let notAfter):
            EventReport(
                "gateway.device-did-renew", .notable,
                "device certificate renewed, it ends \(notAfter.formatted(.iso8601))", ends: [.renewal])
        case .deviceDidFailToRenew(let error):
            EventReport("gateway.device-did-fail-to-renew", error: error, raises: .renewal)
        case .registrationDidDrop(let refusal):
            EventReport("gateway.registration-did-drop", error: GatewayError.refused(refusal), raises: .gateway)

        case .deviceWillDeregister:
            EventReport("gateway.device-will-deregister", .routine, "removing the device at the gateway")
        case .deviceDidDeregister:
            EventReport(
                "gateway.device-did-deregister", .notable, "device removed at the gateway", ends: .ofRegistration)
        case .deviceDidFailToDeregister(let error):
            EventReport("gateway.device-did-fail-to-deregister", error: error, raises: .gateway)
        case .deviceDidResetLocally:
            EventReport(
                "gateway.device-did-reset-locally", .notable, "local data of the gateway removed", ends: .ofRegistration
            )

        case .tokenDidArrive(let grant, let expires):
            EventReport(
                "gateway.token-did-arrive", .routine,
                "access token obtained by \(grant), until \(expires.formatted(.iso8601))",
                ["expires": .string(expires.formatted(.iso8601))], ends: [.credentials])
        case .tokenDidFail(let error): EventReport("gateway.token-did-fail", error: error, raises: .credentials)
        case .tokensDidRevoke: EventReport("gateway.tokens-did-revoke", .notable, "tokens revoked")

        case .userAuthenticationIsRequired:
            EventReport(
                "gateway.user-authentication-required", .routine, "a call needs a user, but no user is logged in")
        case .authorizationDidArrive:
            EventReport("gateway.authorization-did-arrive", .routine, "a browser brought an authorization code")
        case .authorizationDidFail(let reason):
            EventReport(
                "gateway.authorization-did-fail", .routine, "a browser brought no authorization code: \(reason)")
        case .userWillUpdateInformation:
            EventReport("gateway.user-will-update-information", .routine, "asking for information about the user")
        case .userDidUpdateInformation:
            EventReport("gateway.user-did-update-information", .routine, "information about the user updated")
        // Not a warning: the login is valid without.
        case .userDidFailToUpdateInformation(let error):
            EventReport("gateway.user-did-fail-to-update-information", error: error, as: .notable)

        case .userWillAuthenticate(let grant):
            EventReport("gateway.user-will-authenticate", .routine, "logging in by \(grant)")
        case .userDidAuthenticate(let name):
            EventReport("gateway.user-did-authenticate", .notable, "\(name ?? "a user") logged in")
        // Not a warning: the person has got the error, and the board works.
        case .userDidFailToAuthenticate(let error):
            EventReport("gateway.user-did-fail-to-authenticate", error: error, as: .notable)
        case .userTokenDidArrive(let grant, let expires):
            EventReport(
                "gateway.user-token-did-arrive", .routine,
                "access token of the user obtained by \(grant), until \(expires.formatted(.iso8601))")
        case .userWillLogout(let name):
            EventReport("gateway.user-will-logout", .routine, "logging \(name ?? "the user") out")
        case .userDidLogout(let name):
            EventReport("gateway.user-did-logout", .notable, "\(name ?? "the user") is logged out")
        // Not a warning, for the same reasons.
        case .userDidFailToLogout(let error): EventReport("gateway.user-did-fail-to-logout", error: error, as: .notable)
        case .sessionLock(let event): event.report
        }
    }
}

extension Trouble {
    /// The registration and the tokens that the board needs for its broker.
    public static let credentials = Trouble("credentials")
    /// The renewal of the device certificate.
    public static let renewal = Trouble("renewal")
    /// Anything else with the gateway.
    public static let gateway = Trouble("gateway")
}

extension Set<Trouble> {
    /// What is over with another registration, or with none.
    public static let ofRegistration: Set = [.credentials, .renewal, .gateway]
}
