public import Groundwork

/// An error of the network that this machine is in.
public enum NetworkError: Explained, Equatable {
    /// No link has a carrier and an address.
    case noNetwork
    /// The kernel does not report the state of the network; everything else works.
    case notWatched(reason: String)

    public var explanation: Explanation {
        switch self {
        case .noNetwork:
            Explanation(
                "network.none", .unreachable, "no network: no link has a carrier and an address",
                remedy:
                    "check the cable, the wireless network or the modem; the agent connects by itself when it is back",
                gateway: .local(100_402))
        case .notWatched(let reason):
            Explanation(
                "network.not-watched", .unavailable, "cannot watch the network: \(reason)",
                remedy: "allow the service AF_NETLINK (RestrictAddressFamilies), as the shipped unit does",
                meaning: "everything works, but the agent does not notice at once when the network is back")
        }
    }

    public static var examples: [NetworkError] { [.noNetwork, .notWatched(reason: "REASON")] }
}
