import Board
import Groundwork
import Logging

/// Polls the sensors and publishes the samples that are worth a message.
struct SensorService: Sendable {
    let agent: Agent

    func run() async throws {
        let poller = agent.board.poller
        // Subscribed before the poller starts, so that the first samples count.
        let samples = poller.samples.subscribe()
        let events = poller.events.subscribe()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await poller.run() }
            // On the thread that writes them: one thread wakes for a message, not four.
            group.addTask(executorPreference: NamedThread.storage.tasks) {
                for await set in samples { await publish(set) }
            }
            group.addTask { for await event in events { agent.report(.sensor(event)) } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func publish(_ set: SampleSet) async {
        guard agent.configuration.telemetry.enabled else { return }
        do {
            try await agent.publishTelemetry(set.payload())
        } catch {
            // Counted and shown by the outbox itself; one line per failure would fill the log of a board with a full
            // disk.
            agent.logger.debug("telemetry was not accepted: \(error)")
        }
    }
}
