/// What the kernel says about the network at one moment, and what follows from it.
struct NetworkSnapshot: Equatable {
    struct Link: Equatable {
        var index: Int32
        /// At most 15 bytes.
        var name: String
        /// `ARPHRD_…` of linux/if_arp.h.
        var type: UInt16
        /// Whether it is switched on and has a carrier.
        var isRunning: Bool
    }

    struct Address: Hashable {
        var index: Int32
        /// 4 bytes for IPv4, 16 for IPv6.
        var bytes: [UInt8]
        /// Whether others beyond the link can answer to it, and it may be used already.
        var isGlobal: Bool
    }

    /// A route to everywhere.
    struct DefaultRoute: Equatable {
        var isIPv6: Bool
        var index: Int32
        /// The kernel takes the lowest.
        var priority: UInt32
    }

    var links: [Link] = []
    var addresses: [Address] = []
    var routes: [DefaultRoute] = []

    /// The link by which this machine reaches others: that of the best default route, or else the first with an
    /// address, as servers may be on the same link. `nil` if there is no network.
    ///
    /// A link without a carrier keeps its routes in the kernel, and one that is switched off loses those of IPv4
    /// without notice: links decide, then addresses, then routes.
    var wayOut: Link? {
        let usable = links.filter { link in
            link.isRunning && addresses.contains { $0.index == link.index && $0.isGlobal }
        }
        let routed = routes.filter { route in
            addresses.contains { $0.index == route.index && $0.isGlobal && ($0.bytes.count == 16) == route.isIPv6 }
        }.min { ($0.priority, $0.isIPv6 ? 1 : 0, $0.index) < ($1.priority, $1.isIPv6 ? 1 : 0, $1.index) }
        if let routed, let link = usable.first(where: { $0.index == routed.index }) { return link }
        let others = routes.compactMap { route in usable.first { $0.index == route.index } }
        return others.first ?? usable.min { $0.index < $1.index }
    }

    /// The link that has this address.
    func link(with address: [UInt8]) -> Link? {
        guard let index = addresses.first(where: { $0.bytes == address })?.index else { return nil }
        return links.first { $0.index == index }
    }

    /// Whether a connection from this address can still carry anything.
    func carries(_ address: [UInt8]) -> Bool { link(with: address)?.isRunning == true }

    var outlook: NetworkOutlook? {
        guard let link = wayOut else { return nil }
        return NetworkOutlook(
            link: link.index,
            addresses: Set(addresses.filter { $0.index == link.index && $0.isGlobal }.map(\.bytes)),
            hasIPv4Route: routes.contains { !$0.isIPv6 }, hasIPv6Route: routes.contains { $0.isIPv6 })
    }
}

/// What servers can be reached by.
public struct NetworkOutlook: Sendable, Equatable {
    let link: Int32
    let addresses: Set<[UInt8]>
    let hasIPv4Route: Bool
    let hasIPv6Route: Bool
}
