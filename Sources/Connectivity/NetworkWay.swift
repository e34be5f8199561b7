import Glibc

/// How this machine reaches others.
public struct NetworkWay: Sendable, Equatable {
    public enum Kind: String, Sendable, CaseIterable {
        case ethernet
        case wifi
        /// A modem of a mobile network, or another that speaks PPP.
        case mobile
        case other
    }

    /// The name of the link, such as `eth0`.
    public var interface: String
    public var kind: Kind

    public init(interface: String, kind: Kind) {
        self.interface = interface
        self.kind = kind
    }
}

extension NetworkWay: CustomStringConvertible {
    public var description: String { "\(interface) (\(kind.rawValue))" }
}

extension NetworkWay {
    init(_ link: NetworkSnapshot.Link) { self.init(interface: link.name, kind: Kind(link)) }
}

extension NetworkWay.Kind {
    /// The kernel gives drivers of wireless networks and modems the type of Ethernet too: sysfs knows better.
    fileprivate init(_ link: NetworkSnapshot.Link) {
        let folder = "/sys/class/net/\(link.name)"
        switch link.type {
        case 1 where Self.exists("\(folder)/phy80211") || Self.exists("\(folder)/wireless"): self = .wifi
        case 1 where link.name.hasPrefix("wwan"): self = .mobile
        case 1: self = .ethernet  // ARPHRD_ETHER
        case 512, 519: self = .mobile  // ARPHRD_PPP, ARPHRD_RAWIP
        case 801...803: self = .wifi  // ARPHRD_IEEE80211 and its relatives
        default: self = .other
        }
    }

    private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
