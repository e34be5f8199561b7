import Board
import Gateway
import Groundwork
import Proximity

extension Agent {
    /// Tells of what happens between devices nearby.
    nonisolated func tellOfNearby(_ events: AsyncStream<ProximityEvent>) async {
        for await event in events {
            let severity: AgentEvent.Severity = switch event {
            case .buttonFault, .sharingInterrupted: .trouble
            case .scanStarted, .scanStopped, .polled, .centralSubscribed, .centralUnsubscribed, .serviceDiscovered,
                .characteristicFound, .deviceTooFar: .routine
            default: .notable
            }
            var details = event.details
            if details["message"] == nil { details["message"] = .string(event.description) }
            report(AgentEvent(event.name, severity, at: time.now, details))
        }
    }

    /// Offers the session for as long as somebody is logged in, where the settings want that.
    func keepSharing() async {
        guard configuration.proximity.share == .always else { return }
        var backoff = Backoff(initial: .seconds(2), cap: .seconds(300))
        // Subscribed before the first look: who logs in meanwhile is not missed.
        let changes = events.subscribe()
        for await event in AsyncStream.beginning(with: AgentEvent("agent.started", at: time.now), changes) {
            switch event.name {
            case "gateway.user-did-logout", "gateway.device-did-deregister", "gateway.device-did-reset-locally",
                "gateway.did-switch-gateway":
                await nearby.stopSharing()
            case "agent.started", "gateway.user-did-authenticate", "broker.connected", "proximity.sharing-stopped":
                do {
                    try await shareIfLoggedIn(.endless)
                    backoff.reset()
                } catch ProximityError.sharingInProgress {
                    continue
                } catch {
                    report(.failure("proximity.sharing-failed", error, at: time.now))
                    try? await Task.sleep(for: backoff.next())
                }
            default: continue
            }
        }
    }

    private func shareIfLoggedIn(_ term: SharingTerm) async throws {
        guard let session = link?.session, try await session.user() != nil, await !nearby.isSharing else { return }
        try await nearby.share(term, of: session)
    }

    /// What the button does beside answering questions: it lets this board share for a while, where the settings want that.
    func shareByButton() async {
        guard configuration.proximity.share == .button, await nearby.desk.pending.isEmpty, await !nearby.isSharing else { return }
        do {
            try await nearby.share(
                .lasting(.seconds(60 * configuration.proximity.shareMinutes)), of: try activeLink().session)
        } catch {
            report(.failure("proximity.sharing-failed", error, at: time.now))
        }
    }
}

extension AsyncStream where Element: Sendable {
    /// A first element, then those of another stream.
    fileprivate static func beginning(with first: Element, _ rest: AsyncStream) -> AsyncStream {
        AsyncStream { continuation in
            continuation.yield(first)
            let task = Task {
                for await element in rest { continuation.yield(element) }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
