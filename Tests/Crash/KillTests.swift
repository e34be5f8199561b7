import Foundation
import GatewayLab
import TestSupport
import Testing

/// `CYCLES=15000 deploy/test CrashTests.KillTests` for a night; `READINGS` for more of them, `SEED` for the same
/// chance.
@Suite("Killed under load", .serialized)
struct KillTests {
    private static let cycles = count("CYCLES", preset: 200)
    /// After so many cycles the agent is left alone until it has sent all that waits.
    private static let rest = 200
    private static let readings = count("READINGS", preset: max(20_000, cycles * 100))

    @Test(
        "an agent that is killed often loses no accepted reading and keeps their order",
        .timeLimit(.minutes(1440)), arguments: [250, 0])
    func underLoad(spillMilliseconds: Int) async throws {
        var chance = Chance()
        var configuration = LabConfiguration()
        configuration.lives.accessToken = 86_400
        try await inTurn { try await run(spillMilliseconds, configuration, &chance) }
    }

    private func run(_ spill: Int, _ configuration: LabConfiguration, _ chance: inout Chance) async throws {
        let settings = DamageTests.quiet + "\n[outbox]\nspill_milliseconds = \(spill)"
        let board = try TestBoard(program: .shipped, settings: settings)
        try await withLabAndBoard(configuration, board: board) { lab, board in
            let enrolled = try await board.enroll(at: lab)
            let identifier = enrolled.registration.magIdentifier
            let reader = try await SecondClient(named: "phone", user: "alice", at: lab, in: board.folder)
            let arrivals = try await reader.subscribe(to: "/2.0/client/users/alice/custom/crash/#")
            let publisher = Publisher(socket: board.socket, prefix: "/2.0/client/users/alice/custom/crash", topics: 8)
            let start = ContinuousClock.now
            var (early, idle, opened) = (0, 0, 0)

            for cycle in 1...Self.cycles {
                if cycle > 1 { try board.launch() }
                let before = publisher.tally.accepted
                publisher.allow(Self.readings * cycle / Self.cycles)
                // The pauses are moments to kill at, not waits for something to happen.
                if chance.happens(0.2) {
                    early += 1
                    try await Task.sleep(for: .microseconds(Int.random(in: 0...150_000, using: &chance)))
                } else {
                    if await !publisher.accepted(before + 1, within: 20) { idle += 1 }
                    try await Task.sleep(for: .microseconds(Int.random(in: 0...120_000, using: &chance)))
                }
                let words = board.daemon?.errors
                let status = try await board.stop(SIGKILL)
                // It died by the kill and by nothing before.
                #expect(
                    status == 128 + SIGKILL, "cycle \(cycle) of seed \(chance.seed): \(words?.lines.suffix(5) ?? [])")
                // Its word that the vault is open; a reading that is accepted says it of the outbox.
                if words?.text.contains(" ready ") == true || publisher.tally.accepted > before { opened += 1 }
                #expect(words?.text.contains("set-aside") == false, "cycle \(cycle) of seed \(chance.seed)")
                // More is accepted than is sent between two kills: without a rest now and then the outbox only grows.
                if cycle % Self.rest == 0, cycle < Self.cycles {
                    try await board.start()
                    _ = try await board.drained()
                    try await board.stop(SIGKILL)
                }
            }
            let seconds = (ContinuousClock.now - start).components.seconds

            try await board.start()
            publisher.allow(Self.readings)
            #expect(await publisher.accepted(Self.readings, standstill: 180), "\(publisher.tally)")
            publisher.stop()
            await publisher.ended()
            let backlog = try await board.status().outbox?.depth ?? 0
            let drainStart = ContinuousClock.now
            let status = try await board.drained()
            let drainSeconds = (ContinuousClock.now - drainStart).components.seconds
            #expect(status.outbox?.dropped == 0)
            #expect(status.outbox?.setAside == nil)
            #expect(status.registration.magIdentifier == identifier)
            try await board.ask("publish", "--raw", "/2.0/client/users/alice/custom/crash/end", "that is all")
            _ = try await arrivals.output.line(containing: "that is all", silence: 180)
            try await arrivals.stop(SIGKILL)

            let found = Arrivals(arrivals.output.lines(beginning: "reading "), accepted: publisher.acceptedByTopic)
            let tally = publisher.tally
            print(
                """
                killed under load, spill \(spill) ms: \(Self.cycles) cycles (\(early) early, \(opened) with vault and outbox open, \(idle) without a reading), seed \(chance.seed), \
                \(seconds) s; \(backlog) waited then and were sent in \(drainSeconds) s; accepted \(tally.accepted), delivered \(found.delivered), duplicates \(found.duplicates), \
                reordered \(found.reordered), lost \(found.lost); \(tally.unknown) answers lost, refusals \(tally.refusals)
                """)
            #expect(tally.accepted == Self.readings)
            #expect(found.lost == 0)
            #expect(found.reordered == 0)
            // The gateway has seen one registration, and its administrator sees one board beside the reader.
            #expect(lab.requestCounts[.clientRegistration] == 1)
            #expect(await lab.devices().filter { $0.name != "phone" }.map(\.magIdentifier) == [identifier])
            let left = try FileManager.default.contentsOfDirectory(atPath: board.state.path)
            #expect(left.allSatisfy { !$0.contains(".damaged-") }, "\(left)")
        }
    }
}
