import Board
import Gateway
import Messaging
import Proximity

/// The subject of a problem that a later event can end.
enum Concern {
    case broker
    /// The registration and the tokens that the board needs for its broker.
    case credentials
    /// The renewal of the device certificate.
    case renewal
    /// Any other problem with the gateway.
    case gateway
    /// Whether the session can be offered at all.
    case sharing
    /// Whether the offer is on the air.
    case radio
    case button

    /// All that belongs to one registration.
    fileprivate static let ofIdentity: Set<Concern> = [.broker, .credentials, .renewal, .gateway]
}

/// What an event means for the problems that a person sees.
private struct Bearing {
    /// Its subject if it is a problem; `nil` if no event ends it.
    var concern: Concern?
    /// The problems that it ends.
    var ends: Set<Concern> = []
}

extension AgentEvent {
    /// Whether this event ends the problem.
    func ends(_ trouble: AgentEvent) -> Bool {
        trouble.source.account == source.account
            && trouble.source.bearing.concern.map(source.bearing.ends.contains) ?? false
    }
}

extension AgentEvent.Source {
    /// The account that it is about; a problem of one is not ended by an event of another.
    fileprivate var account: AccountName {
        if case .account(let name, _) = self { name } else { .gateway }
    }

    fileprivate var bearing: Bearing {
        switch self {
        case .gateway(let event): event.bearing
        case .broker(let event): event.bearing
        case .proximity(let event): event.bearing
        case .own(let event): event.bearing
        case .firstBoot(let event): event.bearing
        case .account(_, let source): source.bearing
        // The board works without its user's connection.
        case .outbox, .items, .message, .grant, .mpin, .inbox, .action, .network, .prompt, .button, .sensor, .user,
            .named:
            Bearing()
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
        // Another identity, or none: the problems of the former one are over.
        case .didSwitchGateway, .deviceDidRegister, .deviceDidDeregister, .deviceDidResetLocally:
            Bearing(ends: Concern.ofIdentity)
        case .willSwitchGateway, .clientWillInitialize, .clientDidInitialize, .deviceWillRegister,
            .deviceAwaitsActivation, .deviceDidActivate, .deviceWillRenew, .deviceWillDeregister, .tokensDidRevoke,
            .userWillAuthenticate, .userDidAuthenticate, .userTokenDidArrive, .userWillLogout, .userDidLogout,
            .userAuthenticationIsRequired, .authorizationDidArrive, .authorizationDidFail, .userWillUpdateInformation,
            .userDidUpdateInformation, .userDidFailToUpdateInformation, .sessionLock:
            Bearing()
        }
    }
}

extension MessengerEvent {
    fileprivate var bearing: Bearing {
        switch self {
        // A connected board has a valid registration and a valid token.
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

extension FirstBootEvent {
    fileprivate var bearing: Bearing {
        switch self {
        case .didFail, .refused, .scannerFailed: Bearing(concern: .gateway)
        case .found, .taken, .wiped, .notWiped, .notUsed, .scannerReady: Bearing()
        }
    }
}

extension OwnEvent {
    fileprivate var bearing: Bearing {
        switch self {
        case .notReady: Bearing(concern: .credentials)
        case .configurationUnusable, .defaultDocumentUnusable: Bearing(concern: .gateway)
        case .sharingFailed: Bearing(concern: .sharing)
        // Nothing is connected any more, as a person wants it.
        case .didStop: Bearing(ends: [.broker, .credentials])
        case .serviceFailed, .vaultSetAside, .outboxSetAside, .auditFailed, .logInNeeded, .defaultDocumentTaken,
            .willStart,
            .didStart,
            .willStop, .didFailToStart, .didFailToStop:
            Bearing()
        }
    }
}
