import Board
import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentMessages

@Suite("Services of the agent", .timeLimit(.minutes(5)))
struct ServiceTests {
    private struct Broken: Error {}

    private let quick = Backoff(initial: .milliseconds(10), cap: .milliseconds(40), leastShare: 1)

    @Test("a service that fails starts again, after delays that grow to a cap")
    func startsAgain() async {
        let delays = AsyncStream.makeStream(of: Duration.self)
        let service = Restarting(backoff: quick, onFailure: { _, delay in delays.continuation.yield(delay) }) {
            throw Broken()
        }
        let seen = Record<Duration>()
        await Services.run([service]) { for await delay in delays.stream.prefix(4) { seen.add(delay) } }
        #expect(seen.all == [.milliseconds(10), .milliseconds(20), .milliseconds(40), .milliseconds(40)])
    }

    @Test("a service that waits to start again ends at once when the process is told to stop")
    func stopsInPause() async {
        let failures = AsyncStream.makeStream(of: Void.self)
        let service = Restarting(
            backoff: Backoff(initial: .seconds(600)), onFailure: { _, _ in failures.continuation.yield() }
        ) { throw Broken() }
        let start = ContinuousClock.now
        await Services.run([service]) { for await _ in failures.stream.prefix(1) {} }
        // The pause is half of its 600 s at least; the suite's limit is far below it. How soon is "at once" is the
        // machine's.
        #expect(ContinuousClock.now - start < .seconds(300))
    }

    @Test("a running service is canceled when the process is told to stop, which is no failure")
    func stopsRunning() async {
        let started = AsyncStream.makeStream(of: Void.self)
        let failures = Record<Duration>()
        let service = Restarting(backoff: quick, onFailure: { _, delay in failures.add(delay) }) {
            started.continuation.yield()
            try await Task.sleep(for: .seconds(600))
        }
        await Services.run([service]) { for await _ in started.stream.prefix(1) {} }
        #expect(failures.all == [])
    }

    @Test("a service with nothing more to do neither runs again nor ends the others")
    func ends() async {
        let runs = Record<Bool>()
        let other = AsyncStream.makeStream(of: Void.self)
        let done = Restarting(backoff: quick, onFailure: { _, _ in }) { runs.add(true) }
        let busy = Restarting(backoff: quick, onFailure: { _, _ in other.continuation.yield() }) { throw Broken() }
        await Services.run([done, busy]) { for await _ in other.stream.prefix(5) {} }
        #expect(runs.all == [true])
    }

    @Test("the LED is dark before the board is enrolled, flashes without a broker, and is on with one")
    func indication() {
        #expect(ConnectionLight.pattern(isEnrolled: false, isConnected: false) == nil)
        #expect(
            ConnectionLight.pattern(isEnrolled: true, isConnected: false) == .flashing(times: 2, pause: .seconds(2)))
        #expect(ConnectionLight.pattern(isEnrolled: true, isConnected: true) == .on)
    }

    @Test("each gateway has an outbox of its own, under a name that every file system takes")
    func outboxNames() {
        let scopes = [
            "gw.example:8443/", "gw.example:8443/a", "gw.example:8443/a/b", "gw.example:8443/a_b", "gw.example:844/3/a",
            "[::1]:8443/", "gw.example:8443/" + String(repeating: "long", count: 100),
        ]
        let names = scopes.map(BrokerSession.outboxName)
        #expect(Set(names).count == scopes.count)
        for name in names {
            #expect(name.hasPrefix("outbox-") && name.hasSuffix(".db") && name.utf8.count < 128)
            #expect(name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) })
        }
        #expect(names[0].hasPrefix("outbox-gw.example_8443_-"))
        #expect(BrokerSession.outboxName(scopes[1]) == names[1])
    }

    @Test("a board whose definition is missing or faulty has no parts, and says why")
    func boardWithoutDefinition() throws {
        try withFolder { folder in
            let time = BestKnownTime(path: folder + "/clock")
            let missing = BoardParts(BoardSettings(definition: "absent", directories: [folder]), time: time)
            #expect(missing.isWithoutDefinition)
            #expect(missing.faults == [.definitionAbsent(name: "absent", searched: [folder], known: [])])
            #expect(missing.definition.sensors.isEmpty && missing.button == nil && missing.led == nil)

            try "name = 7".write(toFile: folder + "/faulty.toml", atomically: true, encoding: .utf8)
            for definition in ["faulty", folder + "/faulty.toml"] {
                let faulty = BoardParts(BoardSettings(definition: definition, directories: [folder]), time: time)
                #expect(faulty.isWithoutDefinition)
                #expect(faulty.faults.map(\.code) == ["board.definition-faulty"])
            }
        }
    }

    @Test("a board with a definition has its parts")
    func boardWithDefinition() throws {
        let boards = ConfigurationTests.documented.deletingLastPathComponent().deletingLastPathComponent().appending(
            path: "Boards")
        try withFolder { folder in
            let parts = BoardParts(
                BoardSettings(definition: "simulated", directories: [boards.path]),
                time: BestKnownTime(path: folder + "/clock"))
            #expect(!parts.isWithoutDefinition)
            #expect(parts.faults.isEmpty)
            #expect(parts.definition.name == "simulated")
            #expect(parts.button?.simulated != nil && parts.led?.simulated != nil)
        }
    }
}
