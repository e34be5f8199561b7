import Connectivity
import Foundation
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentNetwork

@Suite("Reach of the gateway")
struct GatewayReachTests {
    private static let change = Date(timeIntervalSince1970: 1_800_000_000)
    private static let way = NetworkWay(interface: "eth0", kind: .ethernet)

    /// Signs in a network that is there since ``change``.
    private static func reach(_ set: (inout GatewayReach.Signs) -> Void) -> GatewayReach {
        var signs = GatewayReach.Signs(since: change, way: way)
        set(&signs)
        return GatewayReach(signs)
    }

    @Test("the gateway's reach is unknown until something was heard over the present network")
    func unknown() {
        #expect(Self.reach { _ in } == .unknown)
        #expect(Self.reach { $0.lastContact = Self.change - 1 } == .unknown)
        #expect(Self.reach { $0.lastSilence = Self.change - 1 } == .unknown)
    }

    @Test("the gateway's reach follows the newest of answer and silence")
    func newest() {
        #expect(Self.reach { $0.lastContact = Self.change + 1 } == .reachable(Self.way))
        #expect(Self.reach { $0.lastSilence = Self.change + 1 } == .notReachable)
        #expect(
            Self.reach { ($0.lastContact, $0.lastSilence) = (Self.change + 2, Self.change + 1) }
                == .reachable(Self.way))
        #expect(Self.reach { ($0.lastContact, $0.lastSilence) = (Self.change + 1, Self.change + 2) } == .notReachable)
    }

    @Test("the gateway's reach is certain while the broker is connected, and without a network")
    func certain() {
        let wireless = NetworkWay(interface: "wlan0", kind: .wifi)
        #expect(
            Self.reach { ($0.isConnected, $0.connectedBy, $0.lastSilence) = (true, wireless, Self.change + 1) }
                == .reachable(wireless))
        #expect(
            Self.reach { ($0.isCutOff, $0.isConnected, $0.lastContact) = (true, true, Self.change + 1) }
                == .notReachable)
    }

    @Test("hosts of this machine need no network, and others are tried less often without one")
    func hosts() {
        let watch = NetworkWatch()
        #expect(!watch.isCutOff(from: "gateway.example"), "before it is known")
        #expect(watch.leastDelay(to: "localhost") == .zero)
        let last = LastReach()
        #expect(last.isNew(.notReachable))
        #expect(!last.isNew(.notReachable))
    }
}
