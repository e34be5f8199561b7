import Board
import Groundwork
import Messaging

/// Polls the sensors and publishes the samples that are worth a message.
struct SensorService: Sendable {
    let agent: Agent

    func run() async throws {
        let poller = agent.board.poller
        // Subscribed before the poller starts, so that the first events count.
        let events = poller.events.subscribe()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The poller's thread is the outbox's: one thread wakes for a message, not four.
            group.addTask { try await poller.run { await agent.publish($0) } }
            group.addTask { for await event in events { agent.report(event) } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

extension Agent {
    /// Passes readings to the broker, as one message that nobody waits for. Without an account that has a broker it is
    /// counted, and dropped.
    func publish(_ set: SampleSet) async {
        guard configuration.telemetry.enabled, !set.readings.isEmpty else { return }
        guard let station = await brokerLink?.station else {
            unsentTelemetry += 1
            return
        }
        // What has no room is counted and reported by the outbox itself.
        await station.outbox.offer([
            OutgoingMessage(
                topic: station.telemetryTopic, payload: set.payload(),
                qos: QoS(requested: configuration.telemetry.qos) ?? .atLeastOnce, kind: .telemetry)
        ])
    }
}
