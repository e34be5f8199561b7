import AgentCore
import Connectivity
import Groundwork

/// Changes of the network that this board is in, and of the reachability of its gateway.
enum NetworkEvent: ReportedEvent, Equatable {
    /// There is a network, or another one.
    case changed(NetworkWay)
    case lost
    /// - Parameter way: the link by which it is reached, if that is known.
    case gatewayReachable(NetworkWay?)
    case gatewayNotReachable
    /// Nothing has been heard of the gateway since the network has changed.
    case gatewayUnknown

    static let meanings = [
        "network.changed":
            "the network is available, or a different link now leads to it; waiting work is tried at once",
        "network.gateway-not-reachable": "there is no network, or the gateway did not answer the last time",
        "network.gateway-reachable": "the gateway has answered over the present network",
        "network.gateway-unknown": "the gateway has not answered since the network changed",
        "network.lost": "no link has a carrier and an address",
    ]

    static var details: [String: Schema] {
        [
            "interface": .string("link that leads to the network"),
            "link": .choice("its kind", of: NetworkWay.Kind.self),
        ]
    }

    var report: EventReport {
        switch self {
        case .changed(let way):
            EventReport("network.changed", .notable, "the network is reached through \(way)", way.details)
        // Not trouble: the status says it for as long as it lasts.
        case .lost: EventReport("network.lost", error: NetworkError.noNetwork, as: .notable)
        case .gatewayReachable(let way):
            EventReport(
                "network.gateway-reachable", .routine,
                "the gateway is reachable\(way.map { " by \($0)" } ?? "")", way?.details ?? [:])
        case .gatewayNotReachable:
            EventReport("network.gateway-not-reachable", .routine, "the gateway is not reachable")
        case .gatewayUnknown:
            EventReport("network.gateway-unknown", .routine, "the network has changed since the gateway last answered")
        }
    }
}

extension NetworkWay {
    /// As members of the status.
    var fields: [String: JSON] { ["interface": .string(interface), "kind": .string(kind.rawValue)] }
    /// As details of an event, whose `kind` is that of an error.
    fileprivate var details: [String: JSON] { ["interface": .string(interface), "link": .string(kind.rawValue)] }
}
