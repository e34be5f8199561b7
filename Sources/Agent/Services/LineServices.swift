import Board
import Groundwork
import Proximity

/// Tells of presses of the board's button, and hands them to whoever asks for consent.
struct ButtonService: Sendable {
    let button: Button
    let agent: Agent

    func run() async throws {
        let events = button.events.subscribe()
        let desk = agent.nearby.desk
        await desk.buttonFound()
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await button.run() }
                group.addTask { for await event in events { await take(event) } }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch {
            await desk.buttonLost()
            throw error
        }
    }

    private func take(_ event: ButtonEvent) async {
        agent.report(describe(event))
        let desk = agent.nearby.desk
        switch event {
        case .pressed(let time): await desk.buttonPressed(at: time)
        case .released(let time, let held):
            await desk.buttonReleased(at: time)
            if held < ConsentDesk.Settings().button.long { await agent.shareByButton() }
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
