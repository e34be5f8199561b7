import GatewayLab
import Groundwork
import TestSupport

extension Lab {
    /// Waits until the broker has a subscription to a filter that ends so: what is published from now on is the
    /// subscriber's.
    func hasSubscription(to end: String) async throws {
        let isOne = { @Sendable (event: LabEvent) in
            event.kind == .broker && event.text.hasPrefix("subscribed to ") && event.text.hasSuffix(end)
        }
        let events = events.subscribe()
        guard !log.contains(where: isOne) else { return }
        try await Acceptance.within(180, "a subscription to \(end)") {
            for await event in events where isOne(event) { return }
            throw Unexpected("the lab's events ended")
        }
    }

    /// Waits until the broker has no connection of a user.
    func hasNoSession(of user: String) async throws {
        let events = events.subscribe()
        try await Acceptance.within(180, "the end of the connection of \(user)") { [self] in
            func isThere() async -> Bool { await brokerSessions.keys.contains { $0.hasSuffix("::\(user)") } }
            guard await isThere() else { return }
            for await event in events where event.kind == .broker && event.text == "disconnected" {
                guard await isThere() else { return }
            }
            throw Unexpected("the lab's events ended")
        }
    }
}
