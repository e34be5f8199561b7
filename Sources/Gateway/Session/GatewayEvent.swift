import FoundationEssentials
import Groundwork

/// Events of a board at its gateways (MAG 13.2).
public enum GatewayEvent: Sendable, Equatable {
    case willSwitchGateway(from: GatewayIdentity?, to: GatewayIdentity)
    case didSwitchGateway(from: GatewayIdentity?, to: GatewayIdentity)

    case clientWillInitialize
    /// `expires` is `nil` for credentials that never expire.
    case clientDidInitialize(clientID: String, expires: Date?)
    case clientDidFailToInitialize(GatewayError)

    case deviceWillRegister(deviceID: String)
    case deviceDidRegister(magIdentifier: String)
    /// Registered, but unusable until an administrator activates it.
    case deviceAwaitsActivation(magIdentifier: String)
    case deviceDidActivate(magIdentifier: String)
    case deviceDidFailToRegister(GatewayError)

    case deviceWillRenew(notAfter: Date)
    case deviceDidRenew(notAfter: Date)
    /// The old certificate stays in use, unless ``registrationDidDrop(_:)`` follows.
    case deviceDidFailToRenew(GatewayError)
    /// The gateway refused to renew; registration, tokens and client credentials are gone.
    case registrationDidDrop(Refusal)

    case deviceWillDeregister
    case deviceDidDeregister
    case deviceDidFailToDeregister(GatewayError)
    case deviceDidResetLocally

    case tokenDidArrive(grant: String, expires: Date)
    case tokenDidFail(GatewayError)
    case tokensDidRevoke

    /// A call needs a user, and nobody is logged in.
    case userAuthenticationIsRequired
    /// A browser came back from a login with an authorization code.
    case authorizationDidArrive
    /// A browser came back from a login without one.
    case authorizationDidFail(reason: String)
    case userWillUpdateInformation
    case userDidUpdateInformation
    /// What was kept of the user stays.
    case userDidFailToUpdateInformation(GatewayError)

    /// `grant` is `password`, `authorization_code` or `assertion`.
    case userWillAuthenticate(grant: String)
    case userDidAuthenticate(userName: String?)
    case userDidFailToAuthenticate(GatewayError)
    case userTokenDidArrive(grant: String, expires: Date)
    case userWillLogout(userName: String?)
    /// The user is logged out: after ``userWillLogout(userName:)``, with the registration, or because the gateway no
    /// longer accepts the user's tokens.
    case userDidLogout(userName: String?)
    case userDidFailToLogout(GatewayError)
    case sessionLock(SessionLockEvent)
}

extension GatewayEvent: ReportedEvent {
    public var report: EventReport {
        switch self {
        case .willSwitchGateway(_, let to): EventReport("gateway.will-switch", .routine, "switching to \(to)")
        case .didSwitchGateway(let from, let to):
            EventReport(
                "gateway.did-switch", .notable,
                "switched to \(to)" + (from.map { "; the registration at \($0) is kept" } ?? ""))

        case .clientWillInitialize: EventReport("gateway.client-will-initialize", .routine, "initializing the client")
        case .clientDidInitialize(let id, let expires):
            EventReport(
                "gateway.client-did-initialize", .notable,
                "client initialized as \(id)" + (expires.map { ", until \($0.formatted(.iso8601))" } ?? ""))
        case .clientDidFailToInitialize(let error): EventReport("gateway.client-did-fail-to-initialize", error: error)

        case .deviceWillRegister(let id):
            EventReport("gateway.device-will-register", .routine, "registering device \(id)")
        case .deviceDidRegister(let magIdentifier):
            EventReport("gateway.device-did-register", .notable, "registered as \(magIdentifier)")
        case .deviceAwaitsActivation(let magIdentifier):
            EventReport(
                "gateway.device-awaits-activation", .notable,
                "registered as \(magIdentifier), awaiting activation")
        case .deviceDidActivate(let magIdentifier):
            EventReport("gateway.device-did-activate", .notable, "\(magIdentifier) was activated")
        case .deviceDidFailToRegister(let error): EventReport("gateway.device-did-fail-to-register", error: error)

        case .deviceWillRenew(let notAfter):
            EventReport(
                "gateway.device-will-renew", .routine,
                "renewing the device certificate, which ends \(notAfter.formatted(.iso8601))")
        case .deviceDidRenew(let notAfter):
            EventReport(
                "gateway.device-did-renew", .notable,
                "device certificate renewed, it ends \(notAfter.formatted(.iso8601))")
        case .deviceDidFailToRenew(let error): EventReport("gateway.device-did-fail-to-renew", error: error)
        case .registrationDidDrop(let refusal):
            EventReport("gateway.registration-did-drop", error: GatewayError.refused(refusal))

        case .deviceWillDeregister:
            EventReport("gateway.device-will-deregister", .routine, "removing the device at the gateway")
        case .deviceDidDeregister:
            EventReport("gateway.device-did-deregister", .notable, "device removed at the gateway")
        case .deviceDidFailToDeregister(let error): EventReport("gateway.device-did-fail-to-deregister", error: error)
        case .deviceDidResetLocally:
            EventReport("gateway.device-did-reset-locally", .notable, "local data of the gateway removed")

        case .tokenDidArrive(let grant, let expires):
            EventReport(
                "gateway.token-did-arrive", .routine,
                "access token obtained by \(grant), until \(expires.formatted(.iso8601))",
                ["expires": .string(expires.formatted(.iso8601))])
        case .tokenDidFail(let error): EventReport("gateway.token-did-fail", error: error)
        case .tokensDidRevoke: EventReport("gateway.tokens-did-revoke", .notable, "tokens revoked")

        case .userAuthenticationIsRequired:
            EventReport(
                "gateway.user-authentication-required", .routine, "a call needs a user, and nobody is logged in")
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
