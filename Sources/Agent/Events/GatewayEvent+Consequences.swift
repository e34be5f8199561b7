import Gateway

extension GatewayEvent {
    /// What an event of a session changes for the agent, besides being reported.
    struct Consequences: OptionSet {
        let rawValue: Int

        /// The registration is made or lost: what works with it is built anew.
        static let identityChanges = Self(rawValue: 1 << 0)
        /// A connection that was made shows that the time is not before the certificate's, and that it is right.
        static let timeIsConfirmed = Self(rawValue: 1 << 1)
        /// The gateway answers: what had to wait for it can be done.
        static let gatewayIsReached = Self(rawValue: 1 << 2)
    }

    var consequences: Consequences {
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
