import AgentCore
import Connectivity
import FoundationEssentials
import Synchronization

/// Whether the gateway can be reached, concluded from the network and from what was last heard of it.
enum GatewayReach: Equatable {
    case unknown
    case notReachable
    /// - Parameter way: the link that leads there, if that is known.
    case reachable(NetworkWay?)

    /// What is known of the way to the gateway.
    struct Signs {
        /// Whether there is certainly no network that leads there.
        var isCutOff = false
        /// Since when the network is in this state.
        var since = Date.distantPast
        /// The link that leads to others.
        var way: NetworkWay?
        /// When the gateway last answered.
        var lastContact: Date?
        /// When it last did not, if it has not answered since.
        var lastSilence: Date?
        /// Whether its broker is connected, and by which link.
        var isConnected = false
        var connectedBy: NetworkWay?
    }

    init(_ signs: Signs) {
        if signs.isCutOff {
            self = .notReachable
        } else if signs.isConnected {
            self = .reachable(signs.connectedBy ?? signs.way)
        } else if let silence = signs.lastSilence, silence >= signs.lastContact ?? .distantPast {
            self = silence >= signs.since ? .notReachable : .unknown
        } else if let contact = signs.lastContact, contact >= signs.since {
            self = .reachable(signs.way)
        } else {
            self = .unknown
        }
    }

    var event: NetworkEvent {
        switch self {
        case .unknown: .gatewayUnknown
        case .notReachable: .gatewayNotReachable
        case .reachable(let way): .gatewayReachable(way)
        }
    }

    static let names = ["unknown", "not-reachable", "reachable"]

    /// Its name in the status.
    var name: String {
        switch self {
        case .unknown: Self.names[0]
        case .notReachable: Self.names[1]
        case .reachable: Self.names[2]
        }
    }
}

/// What was last reported of the gateway.
final class LastReach: Sendable {
    private let reported = Mutex(GatewayReach.unknown)

    /// Whether this is not what was last reported; then it counts as reported.
    func isNew(_ reach: GatewayReach) -> Bool {
        reported.withLock { reported in
            defer { reported = reach }
            return reported != reach
        }
    }
}
