import Foundation
import GatewayLab
import TestSupport
import Testing

/// `AGENT_CUTS=2000 deploy/test CrashTests.AgentCutTests` for a night; `SEED` for the same chance.
@Suite(
    "A power cut of the whole agent", .serialized,
    .enabled(if: PowerCutDisk.obstacle == nil, PowerCutDisk.obstacle ?? "possible"))
struct AgentCutTests {
    private static let cuts = count("AGENT_CUTS", preset: 10)

    @Test("a power cut of the whole agent takes no accepted reading, nor the registration", .timeLimit(.minutes(1440)))
    func underLoad() async throws {
        var chance = Chance()
        try await withDisk { lab, board, disk in
            try await board.start()
            let enrolled = try await board.enroll(at: lab)
            let identifier = enrolled.registration.magIdentifier
            let reader = try await SecondClient(named: "phone", user: "alice", at: lab, in: board.folder)
            let arrivals = try await reader.subscribe(to: "/2.0/client/users/alice/custom/crash/#")
            let publisher = Publisher(socket: board.socket, prefix: "/2.0/client/users/alice/custom/crash", topics: 8)
            for cut in 1...Self.cuts {
                if cut > 1 { try board.launch() }
                publisher.allow(200 * cut)
                try disk.cut(after: Int.random(in: 1...600, using: &chance))
                let before = publisher.tally.accepted
                _ = await publisher.accepted(max(before + 1, 200 * cut), within: 3)
                // What has not been used up by now goes with what the agent does meanwhile.
                let words = board.daemon?.errors
                try await board.stop(SIGKILL)
                #expect(words?.text.contains("set-aside") == false, "cut \(cut) of seed \(chance.seed)")
                try disk.restart(seed: chance.next() >> 1)
            }
            try await board.start()
            publisher.allow(200 * Self.cuts)
            #expect(await publisher.accepted(200 * Self.cuts, standstill: 180), "\(publisher.tally)")
            publisher.stop()
            await publisher.ended()
            let status = try await board.drained()
            #expect(status.registration.magIdentifier == identifier)
            try await board.ask("publish", "--raw", "/2.0/client/users/alice/custom/crash/end", "that is all")
            _ = try await arrivals.output.line(containing: "that is all", silence: 180)
            try await arrivals.stop(SIGKILL)
            let found = Arrivals(arrivals.output.lines(beginning: "reading "), accepted: publisher.acceptedByTopic)
            print(
                """
                power cuts of the agent: \(Self.cuts), seed \(chance.seed); accepted \(publisher.tally.accepted), \
                delivered \(found.delivered), duplicates \(found.duplicates), reordered \(found.reordered), lost \(found.lost)
                """)
            #expect(found.lost == 0)
            #expect(found.reordered == 0)
            #expect(lab.requestCounts[.clientRegistration] == 1)
        }
    }

    @Test(
        "a power cut of the whole agent during first start and enrollment leaves a board that can be enrolled",
        .timeLimit(.minutes(1440)))
    func atFirst() async throws {
        var chance = Chance()
        for _ in 1...max(1, Self.cuts / 3) {
            try await withDisk { lab, board, disk in
                try disk.cut(after: Int.random(in: 1...120, using: &chance))
                try board.launch()
                let url = try await lab.mintEnrollmentURL()
                // Where the power went before it listens, it ends.
                if (try? await board.answers(within: 2)) != nil { _ = try await board.latchkey("enroll", url) }
                try await board.stop(SIGKILL)
                let survived = try disk.restart(seed: chance.next() >> 1)
                try await board.start()
                let status = try await board.status()
                #expect(status.setAside == nil, "seed \(chance.seed): \(survived)")
                _ = try await board.enroll(at: lab)
                _ = try await board.status { $0.isConnected }
                #expect(await lab.devices().count == 1)
            }
        }
    }
}
