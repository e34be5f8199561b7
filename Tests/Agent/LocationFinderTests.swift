import Board
import Gateway
import Groundwork
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentGateway

@Suite("Questions for the board's location", .timeLimit(.minutes(5)))
struct LocationFinderTests {
    private static let place = Location(latitude: 49.2827, longitude: -123.1207)

    private var configuration: AgentConfiguration {
        var configuration = AgentConfiguration()
        configuration[LocationSettings.self].source = LocationFinder.Source.gpsd.rawValue
        configuration[LocationSettings.self].waitSeconds = 10
        return configuration
    }

    /// A receiver that answers when its gate opens, with a clock that moves when the test says so.
    private func finder(
        _ clock: ManualClock, _ gate: Gate, _ questions: Log<Duration>, _ answer: Location? = place
    ) -> LocationFinder {
        LocationFinder(
            configuration,
            asking: .init(
                name: "receiver",
                locate: { limit in
                    questions.append(limit)
                    await gate.pass()
                    // It has been given up.
                    if Task.isCancelled { questions.append(.zero) }
                    try Task.checkCancellation()
                    return answer
                }, sleep: { try await clock.sleep(until: clock.now + $0) }))
    }

    @Test("a caller with a short limit waits no longer for the location, and those with a longer one go on")
    func ownLimits() async throws {
        let (clock, gate, questions) = (ManualClock(), Gate(), Log<Duration>())
        let finder = finder(clock, gate, questions)
        let patient = Task { try await finder.find() }
        await clock.sleeper(until: .seconds(1010))
        let hasty = Task { try await finder.find(within: .seconds(2)) }
        await clock.sleeper(until: .seconds(1002))
        clock.move(by: .seconds(2))
        await #expect(throws: BoardError.noFix(address: "receiver")) { _ = try await hasty.value }
        gate.open()
        #expect(try await patient.value.location == Self.place)
        #expect(await finder.known?.location == Self.place)
        // They share one question.
        #expect(questions.entries == [.seconds(10)])
    }

    @Test("a question for the location has the full patience, though its first caller had little")
    func fullPatience() async throws {
        let (clock, gate, questions) = (ManualClock(), Gate(), Log<Duration>())
        let finder = finder(clock, gate, questions)
        let hasty = Task { try await finder.find(within: .seconds(2)) }
        await clock.sleeper(until: .seconds(1002))
        let patient = Task { try await finder.find() }
        await clock.sleeper(until: .seconds(1010))
        clock.move(by: .seconds(2))
        await #expect(throws: BoardError.noFix(address: "receiver")) { _ = try await hasty.value }
        gate.open()
        #expect(try await patient.value.location == Self.place)
        #expect(questions.entries == [.seconds(10)])
    }

    @Test("a question for the location that nobody waits for is given up, and the next caller asks again")
    func unwanted() async throws {
        let (clock, gate, questions) = (ManualClock(), Gate(), Log<Duration>())
        let finder = finder(clock, gate, questions)
        let hasty = Task { try await finder.find(within: .seconds(2)) }
        await clock.sleeper(until: .seconds(1002))
        clock.move(by: .seconds(2))
        await #expect(throws: BoardError.noFix(address: "receiver")) { _ = try await hasty.value }
        try await questions.wait(for: .zero)
        #expect(try await finder.find().location == Self.place)
        #expect(questions.entries == [.seconds(10), .zero, .seconds(10)])
    }

    @Test("a canceled caller waits no longer for the location, and the question goes on for the others")
    func canceled() async throws {
        let (clock, gate, questions) = (ManualClock(), Gate(), Log<Duration>())
        let finder = finder(clock, gate, questions)
        let first = Task { try await finder.find(within: .seconds(8)) }
        await clock.sleeper(until: .seconds(1008))
        let second = Task { try await finder.find(within: .seconds(9)) }
        await clock.sleeper(until: .seconds(1009))
        first.cancel()
        await #expect(throws: CancellationError.self) { _ = try await first.value }
        gate.open()
        #expect(try await second.value.location == Self.place)
        #expect(questions.entries.count == 1)
    }

    @Test("a failed question for the location is repeated once for later callers, who then learn why")
    func failing() async throws {
        let (clock, gate, questions) = (ManualClock(), Gate(), Log<Duration>())
        let finder = finder(clock, gate, questions, nil)
        let first = Task { try await finder.find(within: .seconds(8)) }
        await clock.sleeper(until: .seconds(1008))
        let second = Task { try await finder.find(within: .seconds(9)) }
        await clock.sleeper(until: .seconds(1009))
        gate.open()
        for caller in [first, second] {
            await #expect(throws: GatewayError.locationUnavailable(.noFix)) { _ = try await caller.value }
        }
        #expect(questions.entries.count == 2)
    }
}
