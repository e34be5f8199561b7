import Board
import Gateway
import Messaging
import Proximity

/// What a trouble is about, as far as a later event can end it.
enum Concern {
    case broker
    /// The registration and the tokens that the board needs for its broker.
    case credentials
    /// The renewal of the device certificate.
    case renewal
    /// Anything else with the gateway.
    case gateway
    /// That the session can be offered at all.
    case sharing
    /// That what is offered is on the air.
    case radio
    case button

    /// All that belongs to one registration.
    fileprivate static let ofIdentity: Set<Concern> = [.broker, .credentials, .renewal, .gateway]
}

/// What an event means for what a person should look at.
private struct Bearing {
    /// What it is about when it is trouble; `nil` for what nothing ends.
    var concern: Concern?
    /// The troubles that are over with it.
    var ends: Set<Concern> = []
}

extension AgentEvent {
    /// Whether what a trouble told of is over with this.
    func ends(_ trouble: AgentEvent) -> Bool {
        trouble.source.bearing.concern.map(source.bearing.ends.contains) ?? false
    }
}

extension AgentEvent.Source {
    fileprivate var bearing: Bearing {
        switch self {
        case .gateway(let event): event.bearing
        case .broker(let event): event.bearing
        case .proximity(let event): event.bearing
        case .own(let event): event.bearing
        case .outbox, .button, .sensor: Bearing()
        }
    }
}

extension GatewayEvent {
    fileprivate var bearing: Bearing {
        switch self {
        case .clientDidFailToInitialize, .deviceDidFailToRegister, .tokenDidFail: Bearing(concern: .credentials)
        case .deviceDidFailToRenew: Bearing(concern: .renewal)
        case .registrationDidDrop, .deviceDidFailToDeregister, .userDidFailToAuthenticate, .userDidFailToLogout:
            Bearing(concern: .gateway)
        case .tokenDidArrive: Bearing(ends: [.credentials])
        case .deviceDidRenew: Bearing(ends: [.renewal])
        // Another identity, or none: what went wrong with the former one is over.
        case .didSwitchGateway, .deviceDidRegister, .deviceDidDeregister, .deviceDidResetLocally:
            Bearing(ends: Concern.ofIdentity)
        case .willSwitchGateway, .clientWillInitialize, .clientDidInitialize, .deviceWillRegister,
            .deviceAwaitsActivation, .deviceDidActivate, .deviceWillRenew, .deviceWillDeregister, .tokensDidRevoke,
            .userWillAuthenticate, .userDidAuthenticate, .userTokenDidArrive, .userWillLogout, .userDidLogout:
            Bearing()
        }
    }
}

extension MessengerEvent {
    fileprivate var bearing: Bearing {
        switch self {
        // Whoever is connected has a registration and a token that are good.
        case .connected: Bearing(ends: [.broker, .credentials])
        case .connecting, .refused, .failed, .disconnected, .subscriptionRefused: Bearing(concern: .broker)
        }
    }
}

extension ProximityEvent {
    fileprivate var bearing: Bearing {
        switch self {
        case .sharingInterrupted: Bearing(concern: .radio)
        case .buttonFault: Bearing(concern: .button)
        case .sharingStarted: Bearing(ends: [.sharing, .radio])
        case .sharingStopped: Bearing(ends: [.radio])
        case .buttonRecovered: Bearing(ends: [.button])
        case .scanStarted, .scanStopped, .deviceDetected, .deviceTooFar, .deviceConnected, .deviceFailed,
            .deviceDisconnected, .serviceDiscovered, .characteristicFound, .requestWritten, .polled, .loginSucceeded,
            .loginFailed, .qrCodeShown, .qrCodeHidden, .authorizationCodeReceived, .authorizationErrorReceived,
            .centralConnected, .centralDisconnected, .centralSubscribed, .centralUnsubscribed, .centralHungUp,
            .requestReceived, .requestRefused, .consentAsked, .consentAnswered, .consentAmbiguous, .consentUnambiguous,
            .sessionAuthorized, .sessionNotAuthorized, .sessionNotified, .sessionNotNotified, .sharingEndRequested:
            Bearing()
        }
    }
}

extension OwnEvent {
    fileprivate var bearing: Bearing {
        switch self {
        case .notReady: Bearing(concern: .credentials)
        case .configurationUnusable: Bearing(concern: .gateway)
        case .sharingFailed: Bearing(concern: .sharing)
        case .serviceFailed, .vaultSetAside, .outboxSetAside, .auditFailed: Bearing()
        }
    }
}
