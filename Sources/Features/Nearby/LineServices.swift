import AgentCore
import Board
import Groundwork
import Proximity

/// Reports presses of the board's button, and passes them to the consent desk.
package struct ButtonService: Sendable {
    /// A line that cannot be used fails sooner than this.
    private static let settled = Duration.seconds(1)

    package let button: Button
    package let feature: NearbyFeature

    private var desk: ConsentDesk { feature.nearby.desk }

    package func run() async throws {
        let (updates, looks) = (button.updates.subscribe(), desk.lookRequests.subscribe())
        let (taps, tap) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await button.run() }
                group.addTask { await pass(updates, tap) }
                group.addTask { for await _ in looks { try await button.look() } }
                // In parallel with the presses: going on the air takes seconds, and a press reported late may mean
                // something else.
                group.addTask { for await _ in taps { await feature.shareByButton() } }
                group.addTask {
                    try await Task.sleep(for: Self.settled)
                    await desk.buttonFound()
                }
                for _ in 0..<2 { try await group.next() }
            }
        } catch {
            // When the agent stops, nothing is wrong with the button.
            if !Task.isCancelled { await desk.buttonLost() }
            throw error
        }
    }

    /// Passes presses on, and reports lone taps.
    private func pass(_ updates: AsyncStream<ButtonUpdate>, _ tap: AsyncStream<Void>.Continuation) async {
        let timing = ButtonGestures.Timing()
        var taps = LoneTaps(timing)
        var waiting: Task<Void, any Error>?
        for await update in updates {
            switch update {
            case .happened(let event):
                feature.host.report(event)
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

/// Detects a short, single press that answers no question. Pure.
package struct LoneTaps {
    private let timing: ButtonGestures.Timing
    private var lastEnd: Duration?
    private var counts = false
    /// From when a press that has ended counts as single, unless another one begins before.
    package private(set) var deadline: Duration?

    package init(_ timing: ButtonGestures.Timing) { self.timing = timing }

    /// - Parameter isAsked: whether a question has waited for consent at any time since then.
    package mutating func pressed(at time: Duration, isAsked: Bool) {
        let isSecond = lastEnd.map { time - $0 < timing.pair } ?? false
        counts = !isAsked && !isSecond
        deadline = nil
    }

    /// - Parameter isAsked: whether a question has waited for consent at any time since the press began.
    package mutating func released(at time: Duration, held: Duration, isAsked: Bool) {
        lastEnd = time
        if counts && !isAsked && held < timing.long { deadline = time + timing.pair }
    }

    /// - Parameter time: every edge before it has been reported.
    /// - Returns: whether the last press was a single one; `true` only once.
    package mutating func watched(until time: Duration) -> Bool {
        guard let deadline, time >= deadline else { return false }
        self.deadline = nil
        return true
    }
}
