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

    /// A call needs a user, but none is logged in.
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

extension GatewayEvent {
    /// What an event changes, besides being reported.
    public struct Consequences: OptionSet, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The registration is made or lost: what works with it is built anew.
        public static let identityChanges = Self(rawValue: 1 << 0)
        /// A connection that was made shows that the time is not before the certificate's, and that it is right.
        public static let timeIsConfirmed = Self(rawValue: 1 << 1)
        /// The gateway answers: what had to wait for it can be done.
        public static let gatewayIsReached = Self(rawValue: 1 << 2)
    }

    public var consequences: Consequences {
        switch self {
        case .deviceDidRegister: [.identityChanges, .timeIsConfirmed]
        case .deviceDidActivate, .deviceDidDeregister, .deviceDidResetLocally, .registrationDidDrop: .identityChanges
        case .deviceDidRenew: .timeIsConfirmed
        case .tokenDidArrive: [.timeIsConfirmed, .gatewayIsReached]
        case .willSwitchGateway, .didSwitchGateway, .clientWillInitialize, .clientDidInitialize,
            .clientDidFailToInitialize, .deviceWillRegister, .deviceAwaitsActivation, .deviceDidFailToRegister,
            .deviceWillRenew, .deviceDidFailToRenew, .deviceWillDeregister, .deviceDidFailToDeregister, .tokenDidFail,
            .tokensDidRevoke, .userAuthenticationIsRequired, .authorizationDidArrive, .authorizationDidFail,
            .userWillUpdateInformation, .userDidUpdateInformation, .userDidFailToUpdateInformation,
            .userWillAuthenticate, .userDidAuthenticate, .userDidFailToAuthenticate, .userTokenDidArrive,
            .userWillLogout, .userDidLogout, .userDidFailToLogout, .sessionLock:
            []
        }
    }
}
