import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Messaging

/// The broker's reports of errors, beside programs that subscribe to them too. This broker sends a message once for
/// each filter that it matches, as MQTT allows.
@Suite("Reports of the broker", .timeLimit(.minutes(5)))
struct ReportTests {
    private static let own = "own/error"

    private func broker() async throws -> TestBroker {
        try await TestBroker(.init(lines: ["allow_anonymous true", "allow_duplicate_messages true"]))
    }

    private func station(at broker: TestBroker, running: Bool = true) async throws -> Station {
        try await Station(at: broker.address, clientID: "board", running: running) {
            $0.reportTopic = try Topic(Self.own)
        }
    }

    @Test("reports of the broker reach a program that subscribes to everything once, then the agent again")
    func once() async throws {
        let broker = try await broker()
        let station = try await station(at: broker)
        var events = station.messenger.messages.subscribe().makeAsyncIterator()
        let report = try TopicFilter(Self.own)
        try await until { await station.messenger.established == [report] }
        let all = try await station.messenger.subscribe("own/#")
        try await broker.publish("one", to: Self.own)
        try await broker.publish("end", to: "own/t")
        #expect(await all.texts(2) == ["one", "end"])
        #expect(await events.next() == .brokerReported(topic: Self.own, text: "one"))
        let status = await station.messenger.status()
        #expect(status.reports == 1 && status.received == 2)

        all.finish()
        try await until { await station.messenger.established == [report] }
        try await broker.publish("two", to: Self.own)
        #expect(await events.next() == .brokerReported(topic: Self.own, text: "two"))
        #expect(await station.messenger.status().received == 3)
    }

    @Test("reports of the broker reach a program once even in a session that a killed process left")
    func leftBehind() async throws {
        let broker = try await broker()
        let killed = try Program(
            "/usr/bin/mosquitto_sub",
            ["-h", broker.address.host, "-p", "\(broker.address.port)", "-i", "board", "-c", "-q", "1", "-d"]
                + ["-t", Self.own])
        _ = await killed.firstLine(containing: "Subscribed")
        killed.kill()
        let station = try await station(at: broker, running: false)
        let all = try await station.messenger.subscribe("own/#")
        station.run()
        try await until { await station.messenger.established == [try TopicFilter("own/#")] }
        try await broker.publish("one", to: Self.own)
        try await broker.publish("end", to: "own/t")
        #expect(await all.texts(2) == ["one", "end"])
    }

    @Test("reports of the broker reach the agent where a program's other subscriptions are refused")
    func refused() async throws {
        let bench = try Bench()
        let rules = try bench.write(
            """
            {"defaultACLAccess": {"publishClientSend": true, "publishClientReceive": true, "subscribe": false,
              "unsubscribe": true}, "clients": [], "anonymousGroup": "all",
             "groups": [{"groupname": "all", "roles": [{"rolename": "open"}]}],
             "roles": [{"rolename": "open", "acls": [{"acltype": "subscribeLiteral", "topic": "own/error", "allow": true}]}]}
            """, to: "rules.json")
        let broker = try await TestBroker(
            .init(lines: [
                "allow_anonymous true", "plugin \(try TestBroker.dynamicSecurity)", "plugin_opt_config_file \(rules)",
            ]), bench: bench)
        let station = try await station(at: broker)
        var events = station.messenger.messages.subscribe().makeAsyncIterator()
        let report = try TopicFilter(Self.own)
        try await until { await station.messenger.established == [report] }
        await #expect(throws: MessagingError.subscriptionRefused(try TopicFilter("own/#"))) {
            _ = try await station.messenger.subscribe("own/#")
        }
        try await until { await station.messenger.established == [report] }
        try await broker.publish("one", to: Self.own)
        #expect(await events.next() == .brokerReported(topic: Self.own, text: "one"))
    }
}
