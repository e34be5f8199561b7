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
        let (updates, looks) = (button.updates.subscribe(), desk.lookRequests.subscribe())
        let (taps, tap) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await button.run() }
                group.addTask { await pass(updates, tap) }
                group.addTask { for await _ in looks { try await button.look() } }
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
    private func pass(_ updates: AsyncStream<ButtonUpdate>, _ tap: AsyncStream<Void>.Continuation) async {
        let timing = ButtonGestures.Timing()
        var taps = LoneTaps(timing)
        var waiting: Task<Void, any Error>?
        for await update in updates {
            switch update {
            case .happened(let event):
                agent.report(.button(event))
                switch event {
                case .pressed(let time):
                    waiting?.cancel()
                    if taps.watched(until: time) { tap.yield() }
                    taps.pressed(at: time, isAsked: await desk.hasAsked(since: time))
                    await desk.buttonFound()
                    await desk.buttonPressed(at: time)
                case .foundDown(let time):
                    await desk.buttonFound()
                    await desk.buttonFoundDown(at: time)
                case .released(let time, let held):
                    await desk.buttonReleased(at: time)
                    taps.released(at: time, held: held, isAsked: await desk.hasAsked(since: time - held))
                    guard let deadline = taps.deadline else { continue }
                    waiting = Task {
                        try await SystemClock().sleep(until: deadline)
                        try await button.look()
                    }
                }
            case .watched(let time):
                await desk.buttonWatched(until: time)
                if taps.watched(until: time) { tap.yield() }
            }
        }
        waiting?.cancel()
    }
}

/// Tells a short press that stands alone and answers no question from all others. Pure.
struct LoneTaps {
    private let timing: ButtonGestures.Timing
    private var lastEnd: Duration?
    private var counts = false
    /// From when a press that has ended stands alone, unless another one begins before.
    private(set) var deadline: Duration?

    init(_ timing: ButtonGestures.Timing) { self.timing = timing }

    /// - Parameter isAsked: whether a question has waited for consent at any time from then on.
    mutating func pressed(at time: Duration, isAsked: Bool) {
        let isSecond = lastEnd.map { time - $0 < timing.pair } ?? false
        counts = !isAsked && !isSecond
        deadline = nil
    }

    /// - Parameter isAsked: whether a question has waited for consent at any time since the press began.
    mutating func released(at time: Duration, held: Duration, isAsked: Bool) {
        lastEnd = time
        if counts && !isAsked && held < timing.long { deadline = time + timing.pair }
    }

    /// - Parameter time: every edge before it has been told.
    /// - Returns: whether the last press stands alone; once.
    mutating func watched(until time: Duration) -> Bool {
        guard let deadline, time >= deadline else { return false }
        self.deadline = nil
        return true
    }
}
