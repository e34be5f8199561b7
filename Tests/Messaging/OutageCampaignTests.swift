import Cryptography
import Foundation
import Groundwork
import Synchronization
import TestSupport
import Testing

@testable import Messaging

/// `OUTAGES=1000 deploy/test MessagingTests.OutageCampaignTests` for a long one; `SEED` for the same chance.
@Suite("Outages of a broker behind TLS", .timeLimit(.minutes(60)))
struct OutageCampaignTests {
    private static let outages = ProcessInfo.processInfo.environment["OUTAGES"].flatMap(Int.init) ?? 20
    /// What is connected for so long and is not sent is not sent any more.
    private static let patience = Duration.seconds(30)

    /// Who connects: mostly the board, sometimes somebody whom the broker refuses.
    private struct Callers {
        let good: BrokerCredentials
        let bad: [BrokerCredentials]
        let seed: UInt64

        init(of secure: SecureBroker, seed: UInt64) throws {
            good = try secure.credentials()
            bad = [
                try secure.credentials(from: TestAuthority()),
                BrokerCredentials(
                    clientID: "board", userName: "nobody", password: SecretBytes(utf8: "wrong"), tls: good.tls),
            ]
            self.seed = seed
        }

        func next(_ attempt: Int, refusals: Counter) -> BrokerCredentials {
            var chance = Chance(seed: seed &+ UInt64(attempt))
            guard chance.happens(0.15) else { return good }
            _ = refusals.next()
            return bad.randomElement(using: &chance) ?? good
        }
    }

    /// Where the connections of one round end: in the handshake, in a record, or between two.
    private func cuts(_ chance: inout Chance) -> [CuttingRelay.Cut] {
        (0..<Int.random(in: 1...2, using: &chance)).map { _ in
            let isOfClient = chance.happens(0.5)
            let most = chance.happens(0.3) ? 3000 : isOfClient ? 60_000 : 6000
            return CuttingRelay.Cut(
                isOfClient: isOfClient, bytes: Int.random(in: 1...most, using: &chance),
                isOrderly: chance.happens(0.5))
        }
    }

    /// A broker with two listeners: that of its own address knows no TLS.
    private func broker(securePort: Int, _ bench: Bench) async throws -> SecureBroker {
        let made = try Program("/usr/bin/mosquitto_passwd", ["-c", "-b", bench.path("users"), "somebody", "right"])
        for await _ in made.lines {}
        return try await SecureBroker(
            keepsAll: true, lines: ["password_file \(bench.path("users"))", "listener \(securePort) 127.0.0.1"])
    }

    private func inboxes(in bench: Bench) async throws -> InboxStore {
        let policy = InboxPolicy(
            name: "all", filter: try TopicFilter("t"), limitBytes: 1 << 20, limitMessages: 1000,
            maxAge: .seconds(3600), takesRetained: false)
        return try await InboxStore.open(at: bench.path("inbox.db"), owner: "device", policies: [policy])
    }

    @Test("outages of a TLS connection, wherever they cut it, leave nothing in the outbox and lose nothing")
    func campaign() async throws {
        var chance = Chance()
        let bench = try Bench()
        let port = try UnusedPort.reserve()
        let secure = try await broker(securePort: port, bench)
        let observer = try await secure.broker.observe("t")
        let relay = try CuttingRelay(to: BrokerAddress(host: "127.0.0.1", port: port))
        defer { relay.stop() }
        let callers = try Callers(of: secure, seed: chance.seed)
        let refusals = Counter()
        let station = try await Station(
            at: relay.address, inboxes: try await inboxes(in: bench),
            adjust: { $0.presenceTopic = try Topic("presence") },
            credentials: { callers.next($0, refusals: refusals) })
        var (published, outages, restarts, orderly) = (0, 0, 0, 0)
        while outages < Self.outages {
            // One or the other: three hang-ups on one message alone would make it a dead letter.
            let restarting = relay.planned == 0 && chance.happens(0.1)
            let planned = restarting || relay.planned > 0 ? [] : cuts(&chance)
            relay.plan(planned)
            let before = relay.planned
            for _ in 0..<Int.random(in: 1...40, using: &chance) {
                published += 1
                let length = Int.random(in: 0...3000, using: &chance)
                try await station.publish("\(published) \(String(repeating: "x", count: length))", to: "t")
            }
            if restarting {
                secure.broker.stop()
                try await secure.broker.start()
                restarts += 1
                // Taken by a broker at work: Mosquitto forgets to stop if it is told to a moment after its start.
                published += 1
                try await station.publish("\(published)", to: "t")
            }
            orderly += planned.count { $0.isOrderly }
            let limit = ContinuousClock.now + Self.patience
            while await station.outbox.status().depth > 0, .now < limit {
                try await Task.sleep(for: .milliseconds(2))
            }
            let status = await station.messenger.status()
            try #require(
                status.outbox.depth == 0, "after \(outages) outages of seed \(chance.seed), \(planned): \(status)")
            outages += before - relay.planned + (restarting ? 1 : 0)
        }
        try await station.publish("end", to: "t")
        var arrived: Set<Int> = []
        var repeated = 0
        for await message in observer.messages {
            guard let number = message.payload.split(separator: " ").first.flatMap({ Int($0) }) else { break }
            if !arrived.insert(number).inserted { repeated += 1 }
        }
        let status = await station.outbox.status()
        print(
            "\(outages) outages (\(restarts) restarts, \(orderly) orderly ends planned), \(refusals.count) refusals,",
            "\(relay.accepted) connections, \(published) messages, \(repeated) of them twice, seed \(chance.seed)")
        #expect(arrived == Set(1...published))
        #expect((status.dropped.total, status.deadLetters) == (0, 0))
        try await station.stop()
    }
}
