import Board
import Groundwork

/// Tells of presses of the board's button.
struct ButtonService: Sendable {
    let button: Button
    let agent: Agent

    func run() async throws {
        let events = button.events.subscribe()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await button.run() }
            group.addTask { for await event in events { agent.report(describe(event)) } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func describe(_ event: ButtonEvent) -> AgentEvent {
        switch event {
        case .pressed: AgentEvent("button.pressed", .notable, at: agent.time.now)
        case .released(_, let held):
            AgentEvent("button.released", .notable, at: agent.time.now, ["heldMilliseconds": .integer(held.milliseconds)])
        }
    }
}

extension Duration {
    /// Whole milliseconds, rounded down.
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
