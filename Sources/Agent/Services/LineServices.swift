import Board
import Groundwork
import Proximity

/// Tells of presses of the board's button, and hands them to whoever asks for consent.
struct ButtonService: Sendable {
    /// A line that cannot be had fails sooner.
    private static let settled = Duration.seconds(1)

    let button: Button
    let agent: Agent

    private var desk: ConsentDesk { agent.nearby.desk }

    func run() async throws {
        let events = button.events.subscribe()
        let (taps, tap) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await button.run() }
                group.addTask { await pass(events, tap) }
                // Beside the presses: it takes seconds to go on the air, and a press that is told late may mean something else.
                group.addTask { for await _ in taps { await agent.shareByButton() } }
                group.addTask {
                    try await Task.sleep(for: Self.settled)
                    await desk.buttonFound()
                }
                for _ in 0..<2 { try await group.next() }
            }
        } catch {
            // At the agent's end nothing is wrong with the button.
            if !Task.isCancelled { await desk.buttonLost() }
            throw error
        }
    }

    /// Passes presses on, and tells of lone taps.
    private func pass(_ events: AsyncStream<ButtonEvent>, _ tap: AsyncStream<Void>.Continuation) async {
        let timing = ButtonGestures.Timing()
        let pause = timing.pair + timing.settling + button.definition.debounce
        var taps = LoneTaps(timing)
        var waiting: Task<Void, Never>?
        for await event in events {
            agent.report(describe(event))
            let isAsked = await !desk.pending.isEmpty
            switch event {
            case .pressed(let time):
                waiting?.cancel()
                taps.pressed(at: time, isAsked: isAsked)
                await desk.buttonFound()
                await desk.buttonPressed(at: time)
            case .foundDown(let time):
                await desk.buttonFound()
                await desk.buttonFoundDown(at: time)
            case .released(let time, let held):
                await desk.buttonReleased(at: time)
                guard taps.released(at: time, held: held, isAsked: isAsked) else { continue }
                waiting = Task { if (try? await Task.sleep(for: pause)) != nil { tap.yield() } }
            }
        }
        waiting?.cancel()
    }

    private func describe(_ event: ButtonEvent) -> AgentEvent {
        switch event {
        case .pressed: AgentEvent("button.pressed", .notable, at: agent.time.now)
        case .foundDown: AgentEvent("button.found-down", .notable, at: agent.time.now)
        case .released(_, let held):
            AgentEvent(
                "button.released", .notable, at: agent.time.now, ["heldMilliseconds": .integer(held.wholeMilliseconds)])
        }
    }
}

/// Tells a short press that stands alone and answers no question from all others. Pure.
struct LoneTaps {
    private let timing: ButtonGestures.Timing
    private var lastEnd: Duration?
    private var counts = false

    init(_ timing: ButtonGestures.Timing) { self.timing = timing }

    /// - Parameter isAsked: whether a question waits for consent.
    mutating func pressed(at time: Duration, isAsked: Bool) {
        let isSecond = lastEnd.map { time - $0 <= timing.pair } ?? false
        counts = !isAsked && !isSecond
    }

    /// - Returns: whether it is one, unless another press follows in time. A question that came, or was answered, while the
    ///   button was down leaves none.
    mutating func released(at time: Duration, held: Duration, isAsked: Bool) -> Bool {
        lastEnd = time
        return counts && !isAsked && held < timing.long
    }
}
