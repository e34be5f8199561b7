import FoundationEssentials
import Groundwork

/// What happens in the life of a board at its gateways (gateway protocol 13.2).
public enum GatewayEvent: Sendable, Equatable {
    case willSwitchGateway(from: GatewayIdentity?, to: GatewayIdentity)
    case didSwitchGateway(from: GatewayIdentity?, to: GatewayIdentity)

    case clientWillInitialize
    /// `expires` is `nil` for credentials that never end.
    case clientDidInitialize(clientID: String, expires: Date?)
    case clientDidFailToInitialize(GatewayError)

    case deviceWillRegister(deviceID: String)
    case deviceDidRegister(magIdentifier: String)
    /// Registered, of use as soon as an administrator activates it.
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

    /// `grant` is `password` or `authorization_code`.
    case userWillAuthenticate(grant: String)
    case userDidAuthenticate(userName: String?)
    case userDidFailToAuthenticate(GatewayError)
    case userTokenDidArrive(grant: String, expires: Date)
    case userWillLogout(userName: String?)
    /// Nobody is logged in any more: by ``userWillLogout(userName:)``, with the registration, or as the gateway takes the
    /// user's tokens no more.
    case userDidLogout(userName: String?)
    case userDidFailToLogout(GatewayError)

    /// Stable and for programs.
    public var name: String {
        switch self {
        case .willSwitchGateway: "gateway-will-switch"
        case .didSwitchGateway: "gateway-did-switch"
        case .clientWillInitialize: "client-will-initialize"
        case .clientDidInitialize: "client-did-initialize"
        case .clientDidFailToInitialize: "client-did-fail-to-initialize"
        case .deviceWillRegister: "device-will-register"
        case .deviceDidRegister: "device-did-register"
        case .deviceAwaitsActivation: "device-awaits-activation"
        case .deviceDidActivate: "device-did-activate"
        case .deviceDidFailToRegister: "device-did-fail-to-register"
        case .deviceWillRenew: "device-will-renew"
        case .deviceDidRenew: "device-did-renew"
        case .deviceDidFailToRenew: "device-did-fail-to-renew"
        case .registrationDidDrop: "registration-did-drop"
        case .deviceWillDeregister: "device-will-deregister"
        case .deviceDidDeregister: "device-did-deregister"
        case .deviceDidFailToDeregister: "device-did-fail-to-deregister"
        case .deviceDidResetLocally: "device-did-reset-locally"
        case .tokenDidArrive: "token-did-arrive"
        case .tokenDidFail: "token-did-fail"
        case .tokensDidRevoke: "tokens-did-revoke"
        case .userWillAuthenticate: "user-will-authenticate"
        case .userDidAuthenticate: "user-did-authenticate"
        case .userDidFailToAuthenticate: "user-did-fail-to-authenticate"
        case .userTokenDidArrive: "user-token-did-arrive"
        case .userWillLogout: "user-will-logout"
        case .userDidLogout: "user-did-logout"
        case .userDidFailToLogout: "user-did-fail-to-logout"
        }
    }

    /// The error of an event that tells of a failure.
    public var error: GatewayError? {
        switch self {
        case .clientDidFailToInitialize(let error), .deviceDidFailToRegister(let error), .deviceDidFailToRenew(let error),
            .deviceDidFailToDeregister(let error), .tokenDidFail(let error), .userDidFailToAuthenticate(let error),
            .userDidFailToLogout(let error): error
        case .registrationDidDrop(let refusal): .refused(refusal)
        default: nil
        }
    }
}

extension GatewayEvent: CustomStringConvertible {
    /// One line for a log; nothing secret is in it.
    public var description: String {
        switch self {
        case .willSwitchGateway(_, let to): "switching to \(to)"
        case .didSwitchGateway(let from, let to):
            "switched to \(to)" + (from.map { "; the registration at \($0) is kept" } ?? "")
        case .clientWillInitialize: "initializing the client"
        case .clientDidInitialize(let id, let expires):
            "client initialized as \(id)" + (expires.map { ", until \($0.formatted(.iso8601))" } ?? "")
        case .deviceWillRegister(let id): "registering device \(id)"
        case .deviceDidRegister(let magIdentifier): "registered as \(magIdentifier)"
        case .deviceAwaitsActivation(let magIdentifier): "registered as \(magIdentifier), awaiting activation"
        case .deviceDidActivate(let magIdentifier): "\(magIdentifier) was activated"
        case .deviceWillRenew(let notAfter): "renewing the device certificate, which ends \(notAfter.formatted(.iso8601))"
        case .deviceDidRenew(let notAfter): "device certificate renewed, it ends \(notAfter.formatted(.iso8601))"
        case .registrationDidDrop(let refusal): "registration dropped: \(GatewayError.refused(refusal).message)"
        case .deviceWillDeregister: "removing the device at the gateway"
        case .deviceDidDeregister: "device removed at the gateway"
        case .deviceDidResetLocally: "local data of the gateway removed"
        case .tokenDidArrive(let grant, let expires): "access token obtained by \(grant), until \(expires.formatted(.iso8601))"
        case .tokensDidRevoke: "tokens revoked"
        case .userWillAuthenticate(let grant): "logging in by \(grant)"
        case .userDidAuthenticate(let name): "\(name ?? "a user") logged in"
        case .userTokenDidArrive(let grant, let expires):
            "access token of the user obtained by \(grant), until \(expires.formatted(.iso8601))"
        case .userWillLogout(let name): "logging \(name ?? "the user") out"
        case .userDidLogout(let name): "\(name ?? "the user") is logged out"
        case .clientDidFailToInitialize(let error), .deviceDidFailToRegister(let error), .deviceDidFailToRenew(let error),
            .deviceDidFailToDeregister(let error), .tokenDidFail(let error), .userDidFailToAuthenticate(let error),
            .userDidFailToLogout(let error):
            error.message
        }
    }
}
