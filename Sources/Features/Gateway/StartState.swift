import AgentCore
import Gateway
import Groundwork
import LocalAPI

/// Whether what talks to a gateway runs: the states of the protocol's package clients (MAG 13.1), for one account.
package enum StartState: String, CaseIterable {
    /// The account has no configuration.
    case notConfigured = "not-configured"
    /// There is a configuration that cannot be used, or the vault that has it is closed.
    case notInitialized = "not-initialized"
    /// The configuration is read and stored.
    case loaded
    case willStart = "will-start"
    case started
    case willStop = "will-stop"
    /// The connections are being closed.
    case isBeingStopped = "being-stopped"
    case stopped

    /// The client's number for iOS.
    private var numberOfIOS: Int64 {
        switch self {
        case .notConfigured: -1
        case .notInitialized: 0
        case .loaded: 1
        case .willStart: 2
        case .started: 3
        case .willStop: 4
        case .stopped: 5
        case .isBeingStopped: 6
        }
    }

    /// The client's number for Android, which distinguishes fewer states.
    private var numberOfAndroid: Int64 {
        switch self {
        case .notConfigured: 1
        case .notInitialized, .loaded, .willStart: 2
        case .started, .willStop, .isBeingStopped: 3
        case .stopped: 4
        }
    }

    package var members: [String: JSON] {
        ["state": .string(rawValue), "state_ios": .integer(numberOfIOS), "state_android": .integer(numberOfAndroid)]
    }

    package static var schemas: [String: Schema] {
        [
            "state": .string("state of the gateway connection", choices: allCases.map(\.rawValue)),
            "state_ios": .integer("the state's number in the reference client for iOS"),
            "state_android": .integer("the state's number in the reference client for Android"),
        ]
    }
}

/// Whose token the board has at a gateway (MAG 13.1).
package enum Authentication: String, CaseIterable {
    package init(_ status: GatewayStatus) {
        self = status.user != nil ? .user : status.token != nil ? .anonymous : .nobody
    }

    case nobody = "not-logged-in"
    /// That of a user who is logged in.
    case user
    /// The board's own.
    case anonymous
}
