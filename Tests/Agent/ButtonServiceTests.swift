import Board
import Foundation
import Groundwork
import Prompts
import Proximity
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentNearby
@testable import Board

@Suite("The service of the board's button", .timeLimit(.minutes(8)))
struct ButtonServiceTests {
    /// A watched button of a simulated board, that shares by its button.
    private struct Bench {
        let agent: Agent
        let line: SimulatedLine
        var told: AsyncStream<AgentEvent>.Iterator
        var near: AsyncStream<ProximityEvent>.Iterator
        let serving: Task<Void, any Error>

        init(_ agent: Agent, isDown: Bool = false) async throws {
            self.agent = agent
            let button = try #require(agent.host.board.button)
            line = try #require(button.simulated)
            line.set(active: isDown)
            _ = line.takeEdges()
            told = agent.host.events.subscribe().makeAsyncIterator()
            near = agent.nearby.events.subscribe().makeAsyncIterator()
            serving = Task {
                try await ButtonService(button: button, feature: agent.host.feature(NearbyFeature.self)).run()
            }
            while !line.isAwaited, !Task.isCancelled { await Task.yield() }
        }

        mutating func hear(_ name: String) async {
            while let event = await told.next(), event.name != name {}
        }

        /// - Returns: the first that is not about a question.
        mutating func hearOfButton() async -> ProximityEvent? {
            while let event = await near.next() {
                if case .consentAsked = event { continue }
                if case .consentAnswered = event { continue }
                return event
            }
            return nil
        }

        mutating func tap() async {
            // Of a stated length: between two edges of its own a busy machine may take long.
            line.press(for: .milliseconds(100))
            await hear("button.pressed")
            await hear("button.released")
        }

        /// Somebody is asked.
        func ask() async -> Task<ConsentAnswer, Never> {
            let asking = Task { [desk = agent.nearby.desk] in
                await desk.ask(Requester(name: "Pixel", address: nil, way: .ble))
            }
            while await agent.nearby.desk.pending.isEmpty, !Task.isCancelled { await Task.yield() }
            return asking
        }

        func end() async {
            serving.cancel()
            _ = await serving.result
        }
    }

    private func withBench(isDown: Bool = false, _ body: (inout Bench) async throws -> Void) async throws {
        let boards = ConfigurationTests.documented.deletingLastPathComponent().deletingLastPathComponent().appending(
            path: "Boards")
        try await withAgent({
            $0.board = BoardSettings(definition: "simulated", directories: [boards.path])
            $0.proximity.share = .button
            // Longer than any pause of a busy machine.
            $0.proximity.consentSeconds = 110
        }) { agent, _ in
            var bench = try await Bench(agent, isDown: isDown)
            try await body(&bench)
            await bench.end()
        }
    }

    @Test("a short press answers a question for consent, and then does not begin to share")
    func grants() async throws {
        try await withBench { bench in
            let asking = await bench.ask()
            await bench.tap()
            #expect(await asking.value.decision == .granted(by: .button))
            #expect(bench.agent.host.lastTrouble == nil)
        }
    }

    /// Waits for a press that unlocks.
    private func unlocking(_ desk: ConsentDesk) async -> Task<PressOutcome, Never> {
        let (waits, wait) = AsyncStream.makeStream(of: Void.self)
        let task = Task { await desk.awaitPress(patience: .seconds(60)) { wait.finish() } }
        for await _ in waits {}
        return task
    }

    @Test("a press goes to whoever unlocks a session, and then does not begin to share")
    func unlocks() async throws {
        try await withBench { bench in
            let waiting = await unlocking(bench.agent.nearby.desk)
            await bench.tap()
            #expect(await waiting.value == .pressed)
            #expect(bench.agent.host.lastTrouble == nil)
        }
    }

    @Test("a press while a device asks and a session is to be unlocked does neither")
    func choosesNeither() async throws {
        try await withBench { bench in
            let waiting = await unlocking(bench.agent.nearby.desk)
            let asking = await bench.ask()
            await bench.tap()
            #expect(await asking.value.decision == .ambiguous)
            #expect(await waiting.value == .ambiguous)
        }
    }

    @Test("a press that stands alone has the board share")
    func shares() async throws {
        try await withBench { bench in
            await bench.tap()
            // Nobody is logged in here, nor is the board enrolled: that it was tried is told.
            await bench.hear("proximity.sharing-failed")
            #expect(bench.agent.host.lastTrouble?.name == "proximity.sharing-failed")
        }
    }

    @Test("a button that was down before the service began is reported, and answers nothing")
    func foundDown() async throws {
        try await withBench(isDown: true) { bench in
            await bench.hear("button.found-down")
            let asking = await bench.ask()
            #expect(await bench.hearOfButton() == .buttonFault(.downWhenAsked))
            let state = try await bench.agent.host.examinedState()
            #expect(state.nearby.buttonFault == .downWhenAsked)
            bench.line.set(active: false)
            #expect(await bench.hearOfButton() == .buttonRecovered)
            #expect(await bench.agent.nearby.desk.pending.count == 1)
            await bench.tap()
            #expect(await asking.value.decision == .granted(by: .button))
        }
    }

    @Test("a button whose line cannot be had is reported, and the doctor knows")
    func missing() async throws {
        try await withAgent { agent, _ in
            var near = agent.nearby.events.subscribe().makeAsyncIterator()
            let button = Button(LineDefinition(place: .gpio(chip: "no such chip", line: .name("GPIO17"))))
            await #expect(throws: BoardError.self) {
                try await ButtonService(button: button, feature: agent.host.feature(NearbyFeature.self)).run()
            }
            #expect(await near.next() == .buttonFault(.missing))
            let state = try await agent.host.examinedState()
            #expect(state.nearby.buttonFault == .missing)
        }
    }
}
