import Board
import Cryptography
import Foundation
import Gateway
import Groundwork
import HTTPClient
import Logging
import Messaging
import Synchronization
import TestSupport
import Testing
import Vault

@testable import Agent
@testable import AgentBoard
@testable import AgentCalls
@testable import AgentCore
@testable import AgentFirstBoot
@testable import AgentGateway
@testable import AgentMessages
@testable import AgentNearby
@testable import LocalAPI

@Suite("The agent before it is enrolled", .timeLimit(.minutes(5)))
struct AgentLifeTests {
    @Test("an agent that is not enrolled has no link and no brokerSession, and says what to do")
    func notEnrolled() async throws {
        try await withAgent { agent, _ in
            await agent.resume()
            await #expect(throws: AgentError.notEnrolled) { try await agent.gateways.activeLink() }
            await #expect(throws: AgentError.notEnrolled) { try await agent.broker.activeBrokerSession() }
            // There is nobody to send it to: it is counted.
            let reading = Reading(name: "cpu", value: 1, unit: .celsius, quality: .good, time: agent.host.time.now)
            await agent.broker.publish(SampleSet(time: reading.time, readings: [reading]))
            let report = try await agent.host.statusReport()
            #expect(report["sensors"]?["unsent"] == 1)
            #expect(report["registration"] == ["state": "unregistered"])
            #expect(report["gateway"] == nil)
        }
    }

    @Test("an agent with an unusable stored gateway starts, says so, and can be enrolled again")
    func unusableConfiguration() async throws {
        try await withAgent { agent, _ in
            try await agent.host.vault.commit([
                .put(
                    RecordName(scope: "", name: "active-gateway"), .configuration, SecretBytes(utf8: "gw.example:8443/")
                ),
                .put(
                    RecordName(scope: "gw.example:8443/", name: "configuration"), .configuration,
                    SecretBytes(utf8: "not JSON")),
            ])
            await agent.resume()
            #expect(agent.host.lastTrouble?.name == "gateway.configuration-unusable")
            #expect(
                try await agent.host.statusReport()["lastError"]?["code"]?.string == "gateway.configuration-unreadable")
            await #expect(throws: AgentError.notEnrolled) { try await agent.gateways.activeLink() }
            let account = try #require(try await agent.host.accounts.reports().first)
            #expect(account["name"] == "gateway" && account["registration"] == ["state": "unknown"])
            #expect(account["gateway"]?["url"] == "https://gw.example:8443")
            #expect(account["lastError"]?["code"] == "gateway.configuration-unreadable")
            #expect(try await agent.host.examinedState().gateway.unusableAccount?.name == "gateway")
            try await agent.host.accounts.remove(.gateway, force: false)
            #expect(try await agent.host.accounts.reports() == [])
            #expect(try await agent.host.examinedState().gateway.unusableAccount == nil)
        }
    }

    @Test("an account without a session, as while it is switched, is listed, and the status answers")
    func withoutSession() async throws {
        try await withAgent { agent, _ in
            try await agent.host.vault.commit([
                .put(
                    RecordName(scope: "", name: "account-plant2"), .configuration,
                    SecretBytes(utf8: #"{"kind":"gateway","scope":"gw.example:8443/"}"#))
            ])
            let report = try #require(try await agent.host.statusReport()["accounts"]?.array?.first)
            #expect(report["name"] == "plant2" && report["registration"] == ["state": "unknown"])
            #expect(report["lastError"] == nil)
        }
    }

    @Test("an agent has eight accounts at most, and refuses a ninth before it uses an enrollment URL")
    func tooManyAccounts() async throws {
        try await withAgent { agent, _ in
            for number in 1...AccountRegistry.limit {
                let content = #"{"kind":"gateway","scope":"gw\#(number).example:8443/"}"#
                try await agent.host.vault.commit([
                    .put(RecordName(scope: "", name: "account-a\(number)"), .configuration, SecretBytes(utf8: content))
                ])
            }
            let (held, new) = try (#require(AccountName("a1")), #require(AccountName("a9")))
            try await agent.host.accounts.checkRoom(for: held, ofKind: "gateway")
            await #expect(throws: AccountError.tooMany(limit: 8)) {
                try await agent.host.accounts.checkRoom(for: new, ofKind: "gateway")
            }
            try await agent.host.accounts.remove(held, force: false)
            try await agent.host.accounts.checkRoom(for: new, ofKind: "gateway")
            await #expect(throws: AccountError.unknown(held)) {
                try await agent.host.accounts.remove(held, force: false)
            }
        }
    }

    @Test("an agent warns of a vault whose key lies beside it, and of a board without a definition")
    func warnings() async throws {
        try await withAgent { agent, _ in
            let warnings = try await agent.host.warnings()
            #expect(warnings.contains { $0.contains("development key file") })
            #expect(warnings.contains { $0.contains("no board definition absent") })
            let state = try await agent.host.examinedState()
            #expect(state.board.fault?.code == "board.definition-absent")
            #expect(state.vaultSlot == .developmentFile)
        }
    }

    @Test("a person's mistyping is no trouble of the board, and trouble that nothing ends is shown for a day")
    func endOfTrouble() async throws {
        try await withAgent { agent, _ in
            agent.host.report(GatewayEvent.userDidFailToAuthenticate(.userCredentialsUnusable(reason: "x")))
            #expect(agent.host.lastTrouble == nil)
            let now = agent.host.time.now
            let dropped = OutboxEvent.dropped(count: 1, .full, total: 1)
            agent.host.report(AgentEvent(dropped, at: now.addingTimeInterval(-86_401)))
            #expect(agent.host.lastTrouble == nil)
            agent.host.report(AgentEvent(dropped, at: now.addingTimeInterval(-86_000)))
            #expect(agent.host.lastTrouble?.name == "outbox.dropped")
        }
    }

    @Test("events of broker and outbox have stable names, and each failure is trouble once")
    func mapping() async throws {
        try await withAgent { agent, _ in
            let broker = BrokerAddress(host: "b.example", port: 8883)
            let events = agent.host.events.subscribe()
            agent.host.report(MessengerEvent.connecting(broker, attempt: 3))
            agent.host.report(MessengerEvent.refused(.badCredentials))
            agent.host.report(MessengerEvent.failed(.refused(broker, .badCredentials), retryAfter: .seconds(4)))
            agent.host.report(MessengerEvent.connected(broker, sessionPresent: true))
            agent.host.report(MessengerEvent.subscriptionRefused(try TopicFilter("a/#")))
            agent.host.report(MessengerEvent.disconnected(broker))
            agent.host.report(GatewayEvent.deviceDidRegister(magIdentifier: "m-1"))
            agent.host.report(GatewayEvent.tokenDidFail(.noGrantApplies))
            agent.host.events.finish()

            var told: [AgentEvent] = []
            for await event in events { told.append(event) }
            #expect(
                told.map(\.name) == [
                    "broker.connecting", "broker.refused", "broker.failed", "broker.connected",
                    "broker.subscription-refused",
                    "broker.disconnected", "gateway.device-did-register", "gateway.token-did-fail",
                ])
            #expect(
                told.map(\.severity) == [
                    .routine, .routine, .trouble, .notable, .trouble, .notable, .notable, .trouble,
                ])
            #expect(
                told[0].details == [
                    "broker": "b.example:8883", "attempt": 3,
                    "message": "connecting to broker b.example:8883, attempt 3",
                ])
            #expect(told[2].details["retrySeconds"] == 4)
            #expect(told[2].details["code"] == "messaging.refused")
            #expect(told[3].details["sessionPresent"] == true)
            #expect(told[4].details["filter"] == "a/#")
            #expect(told[7].details["code"] == "gateway.no-grant-applies")
            #expect(agent.host.lastTrouble?.json == told[7].json)
        }
    }

    @Test("sharing goes by what the gateway's session reports of people, and by the connection")
    func sharingChanges() async throws {
        try await withAgent { agent, _ in
            let broker = BrokerAddress(host: "b.example", port: 8883)
            let events = agent.host.events.subscribe()
            agent.host.report(GatewayEvent.userDidAuthenticate(userName: "alice"))
            agent.host.report(GatewayEvent.userDidLogout(userName: "alice"))
            agent.host.report(GatewayEvent.userWillLogout(userName: "alice"))
            agent.host.report(MessengerEvent.connected(broker, sessionPresent: true))
            agent.host.events.finish()
            var changes: [SharingKeeper.Change?] = []
            for await event in events { changes.append(SharingKeeper.Change(event)) }
            #expect(changes == [.loggedIn, .loggedOut, nil, .ready])
        }
    }

    @Test("every route of the local API needs a permission, and errors have statuses of their kind")
    func statuses() async throws {
        try await withAgent { agent, folder in
            let path = folder + "/api.sock"
            let server = LocalServer(
                socketPath: path, policy: AccessPolicy(owners: [getuid()]), router: agent.host.router())
            try server.listen()
            let serving = Task { try await server.run() }
            let client = LocalClient(socketPath: path)
            func status(_ method: String, _ route: String, _ body: JSON = [:]) async -> Int? {
                do {
                    _ = try await method == "GET" ? client.get(route) : client.post(route, body)
                    return 200
                } catch .remote(let status, _) {
                    return status
                } catch {
                    return nil
                }
            }
            #expect(await status("GET", "/v1/status") == 200)
            #expect(await status("GET", "/v1/doctor") == 200)
            #expect(await status("GET", "/v1/sensors") == 200)
            #expect(await status("GET", "/v1/board") == 200)
            #expect(await status("GET", "/v1/token") == 409)
            #expect(await status("POST", "/v1/renew") == 409)
            #expect(await status("POST", "/v1/deregister") == 409)
            #expect(await status("POST", "/v1/messages", ["topic": "a", "payload": "b"]) == 409)
            #expect(await status("POST", "/v1/enrollments", ["url": "http://gw.example/"]) == 400)
            #expect(await status("POST", "/v1/enrollments", [:]) == 400)
            #expect(await status("POST", "/v1/enrollments", ["configuration": [:]]) == 400)
            #expect(await status("GET", "/v1/accounts") == 200)
            #expect(await status("GET", "/v1/accounts/gateway") == 409)
            #expect(await status("GET", "/v1/accounts/gateway/token") == 409)
            #expect(await status("GET", "/v1/accounts/plant2/token") == 404)
            #expect(await status("POST", "/v1/accounts/plant2/logout") == 404)
            #expect(await status("GET", "/v1/accounts/Plant2/token") == 400)
            #expect(await status("POST", "/v1/accounts/plant2/enrollments", ["url": "https://gw.example/c"]) == 400)
            #expect(await status("POST", "/v1/accounts/plant2/login/nearby", ["by": "qr"]) == 404)
            #expect(await status("POST", "/v1/enrollments", ["url": "https://gw.example/config"]) == 400)
            #expect(await status("POST", "/v1/board/button") == 404)
            #expect(await status("GET", "/v1/user") == 409)
            #expect(await status("POST", "/v1/login/nearby", ["by": "nose"]) == 400)
            #expect(await status("POST", "/v1/login/nearby", ["by": "qr"]) == 409)
            #expect(await status("POST", "/v1/login/browser/1", ["answer": "?code=a&state=b"]) == 409)
            #expect(await status("POST", "/v1/proximity/sharing", ["once": true, "seconds": 60]) == 400)
            #expect(await status("POST", "/v1/proximity/sharing") == 409)
            #expect(await status("POST", "/v1/proximity/authorizations", ["text": "https://gw.example/"]) == 409)
            #expect(await status("POST", "/v1/proximity/consents/1", ["grant": true]) == 404)
            #expect(await status("POST", "/v1/proximity/consents/1", ["grant": "yes"]) == 400)
            #expect(await status("POST", "/v1/proximity/consents/one", ["grant": true]) == 400)
            for wrong in ["0", "1001", "abc", "", "5x"] {
                #expect(await status("GET", "/v1/proximity/audit?count=\(wrong)") == 400, "\(wrong)")
            }
            #expect(await status("GET", "/v1/proximity/audit?count=5") == 200)
            serving.cancel()
            try await serving.value
        }
    }
}

@Suite("Streams of messages", .timeLimit(.minutes(5)))
struct DeliveriesTests {
    private func subscription(_ folder: String) async throws -> (Messenger, Subscription) {
        let outbox = try await Outbox.open(at: folder + "/outbox.db", durability: .memory)
        let messenger = Messenger(address: BrokerAddress(host: "localhost", port: 1), outbox: outbox) {
            throw GatewayError.notRegistered
        }
        return (messenger, try await messenger.subscribe("a/#"))
    }

    @Test("a stream of messages begins with its subscription, and ends with an error when its brokerSession goes")
    func ends() async throws {
        try await withFolder { folder in
            let (messenger, subscription) = try await subscription(folder)
            let open = OpenSubscriptions()
            try open.add(subscription)
            let deliveries = Deliveries(subscription: subscription, encoder: MessageEncoder(nil))
            let written = Mutex([UInt8]())
            let writer = StreamWriter(.lines) { bytes, _ in
                written.withLock { $0 += bytes }
                await open.end()
                return true
            }
            await #expect(throws: AgentError.subscriptionEnded) { try await deliveries.write(to: writer) }
            let begin = LocalEvent(name: "subscribed", data: ["filter": "a/#"])
            #expect(written.withLock { $0 } == StreamForm.lines.bytes(of: begin))
            #expect(throws: AgentError.subscriptionEnded) { try open.add(subscription) }
            withExtendedLifetime(messenger) {}
        }
    }

    @Test("a stream of messages ends without an error when its reader goes")
    func readerGoes() async throws {
        try await withFolder { folder in
            let (messenger, subscription) = try await subscription(folder)
            let begun = AsyncStream.makeStream(of: Void.self)
            let reader = Task {
                let count = Mutex(0)
                let writer = StreamWriter(.serverSent) { _, _ in
                    count.withLock { $0 += 1 }
                    begun.continuation.yield()
                    return true
                }
                try await Deliveries(subscription: subscription, encoder: MessageEncoder(nil)).write(to: writer)
                return count.withLock { $0 }
            }
            for await _ in begun.stream.prefix(1) {}
            reader.cancel()
            #expect(try await reader.value == 1)
            withExtendedLifetime(messenger) {}
        }
    }
}
