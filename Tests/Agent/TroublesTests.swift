import Foundation
import Gateway
import Groundwork
import Messaging
import Proximity
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentGateway
@testable import AgentNearby

@Suite("Troubles that stand")
struct TroublesTests {
    private static let date = Date(timeIntervalSince1970: 1_800_000_000)
    private static let broker = BrokerAddress(host: "b.example", port: 8883)
    private static let brokerFailed = MessengerEvent.failed(.refused(broker, .badCredentials), retryAfter: .seconds(1))
    private static let connected = MessengerEvent.connected(broker, sessionPresent: true)
    private static let sharingFailed = SharingEvent.failed(AgentError.notEnrolled, retryAfter: nil)
    private static let interrupted = ProximityEvent.sharingInterrupted(reason: "no adapter")
    private static let token = GatewayEvent.tokenDidArrive(grant: "jwt-bearer", expires: date)
    private static let switched = GatewayEvent.didSwitchGateway(
        from: nil, to: GatewayIdentity(host: "gw.example", port: 8443, prefix: ""))

    @Test(
        "a trouble of the agent ends with the event that says so, and with no other",
        arguments: [
            (brokerFailed, connected, true), (sharingFailed, ProximityEvent.sharingStarted, true),
            (interrupted, ProximityEvent.sharingStarted, true),
            (interrupted, ProximityEvent.sharingStopped(.done), true),
            (sharingFailed, ProximityEvent.sharingStopped(.done), false),
            (ProximityEvent.buttonFault(.stuck), ProximityEvent.buttonRecovered, true),
            (ProximityEvent.buttonFault(.stuck), connected, false),
            (AccountEvent.notReady(MessagingError.outboxClosed(path: "/x"), retryAfter: .seconds(1)), token, true),
            (GatewayEvent.deviceDidFailToRenew(.noGrantApplies), token, false),
            (
                GatewayEvent.deviceDidFailToRenew(.noGrantApplies), GatewayEvent.deviceDidRenew(notAfter: date),
                true
            ),
            (GatewayEvent.deviceDidFailToRegister(.noGrantApplies), switched, true),
            (brokerFailed, AccountEvent.didStop, true),
            (AccountEvent.configurationUnusable(GatewayError.notRegistered), switched, true),
            (OutboxEvent.dropped(count: 1, .full, total: 1), switched, false),
        ] as [(any ReportedEvent, any ReportedEvent, Bool)])
    func ends(trouble: any ReportedEvent, event: any ReportedEvent, ends: Bool) {
        var troubles = Troubles()
        troubles.take(AgentEvent(trouble, at: Self.date))
        #expect(troubles.newest(at: Self.date)?.name == trouble.report.name)
        troubles.take(AgentEvent(event, at: Self.date))
        #expect((troubles.newest(at: Self.date) == nil) == ends)
    }

    @Test("an event ends the trouble of another room if who reports it says so")
    func otherRooms() {
        var troubles = Troubles()
        troubles.take(AgentEvent(GatewayEvent.tokenDidFail(.noGrantApplies), at: Self.date))
        troubles.take(AgentEvent(Self.connected, at: Self.date))
        #expect(troubles.newest(at: Self.date) != nil)
        troubles.take(AgentEvent(Self.connected, ends: [.credentials], at: Self.date))
        #expect(troubles.newest(at: Self.date) == nil)
    }

    @Test("when the newest trouble ends, the one before it is seen again, for a day if nothing ends it")
    func olderOnes() {
        var troubles = Troubles()
        troubles.take(AgentEvent(OutboxEvent.dropped(count: 1, .full, total: 1), at: Self.date))
        let later = Self.date.addingTimeInterval(60)
        troubles.take(AgentEvent(Self.brokerFailed, at: later))
        #expect(troubles.newest(at: later)?.name == "broker.failed")
        troubles.take(AgentEvent(Self.connected, at: later))
        #expect(troubles.newest(at: later)?.name == "outbox.dropped")
        #expect(troubles.newest(at: Self.date.addingTimeInterval(86_401)) == nil)
    }

    @Test("an account's trouble is ended by that account alone, and not by the connection of a user")
    func accounts() throws {
        let plant = try #require(AccountName("plant2"))
        let trouble = AgentEvent(Self.brokerFailed, of: plant, at: Self.date)
        #expect(trouble.details["account"] == "plant2" && trouble.severity == .trouble)
        for event in [
            AgentEvent(Self.connected, at: Self.date),
            AgentEvent(Self.connected, of: plant, over: .user, at: Self.date),
            AgentEvent(Self.connected, of: plant, over: .named("home"), at: Self.date),
        ] {
            var troubles = Troubles()
            troubles.take(trouble)
            troubles.take(event)
            #expect(troubles.newest(at: Self.date)?.name == "broker.failed")
        }
        var troubles = Troubles()
        troubles.take(AgentEvent(Self.brokerFailed, of: plant, over: .user, at: Self.date))
        #expect(troubles.newest(at: Self.date) == nil, "the board works without its user's connection")
        troubles.take(trouble)
        troubles.take(AgentEvent(Self.connected, of: plant, at: Self.date))
        #expect(troubles.newest(at: Self.date) == nil)
    }
}
