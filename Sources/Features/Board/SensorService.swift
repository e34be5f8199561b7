import AgentCore
import AgentMessages
import Board
import Groundwork
import Messaging

extension BoardFeature {
    /// Polls the sensors and publishes the samples that are worth a message, until canceled.
    func pollSensors() async throws {
        let poller = host.board.poller
        // Subscribed before the poller starts, so that the first events count.
        let events = poller.events.subscribe()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The poller's thread is the outbox's: one thread wakes for a message, not four.
            group.addTask { try await poller.run { await broker.publish($0) } }
            group.addTask { for await event in events { host.report(event) } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Shows on the LED what the features have to show, until canceled.
    func indicate(on led: StatusLED) async {
        let changes = host.lights.changes.subscribe(bound: 1)
        await led.show(host.lights.pattern)
        for await _ in changes { await led.show(host.lights.pattern) }
    }
}
