import AgentCore
import AgentGateway
import Board
import Gateway
import Groundwork
import Prompts
import Proximity

/// Offers the session of the user who is logged in.
extension NearbyFeature {
    /// Reports proximity events.
    package func reportProximityEvents(_ events: AsyncStream<ProximityEvent>) async {
        for await event in events { host.report(event) }
    }

    /// Offers the session of the user who is logged in to devices nearby.
    ///
    /// - Throws: `ProximityError`, ``AgentError/notEnrolled``, ``AgentError/noProximityService``
    package func share(_ term: SharingTerm) async throws {
        let session = try await gateways.activeLink().session
        try await nearby.sharing.begin(term, of: session)
        // The gateway may have been switched, or the user logged out, while the radio was starting.
        await endSharingForFormerUser()
    }

    /// Ends sharing if the shared session is not that of the current user, whatever the settings.
    private func endSharingForFormerUser() async {
        guard let shared = await nearby.sharing.gateway else { return }
        if let session = await gateways.link?.session, session === shared.session,
            (try? await shared.requireUserSession()) != nil
        {
            return
        }
        await nearby.stopSharing(by: .agent)
    }

    /// Keeps sharing in step with the logged-in user; runs until canceled.
    package func keepSharing() async {
        let (changes, feed) = AsyncStream.makeStream(
            of: SharingKeeper.Change.self, bufferingPolicy: .bufferingNewest(64))
        // Subscribed before the first check, so that no login in between is missed.
        let agentEvents = host.events.subscribe()
        let proximityEvents = nearby.events.subscribe()
        let ends = nearby.sharing.ends.subscribe()
        feed.yield(.ready)
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await event in agentEvents { if let change = SharingKeeper.Change(event) { feed.yield(change) } }
            }
            group.addTask {
                for await event in proximityEvents {
                    if let change = SharingKeeper.Change(event) { feed.yield(change) }
                }
            }
            group.addTask { for await end in ends { feed.yield(.ended(end)) } }
            var keeper = SharingKeeper(host.settings.proximity.share)
            var backoff = Backoff(initial: .seconds(2), cap: .seconds(300))
            for await change in changes {
                for action in keeper.take(change) {
                    switch action {
                    case .endForFormerUser: await endSharingForFormerUser()
                    case .offer:
                        guard let delay = await offer(&backoff) else { continue }
                        group.addTask { if (try? await Task.sleep(for: delay)) != nil { feed.yield(.due) } }
                    }
                }
            }
            group.cancelAll()
        }
    }

    /// - Returns: the delay before the next attempt; `nil` if sharing is on the air or not wanted.
    private func offer(_ backoff: inout Backoff) async -> Duration? {
        do {
            guard let session = await gateways.link?.session, try await session.user() != nil, await !nearby.isSharing
            else {
                return nil
            }
            try await share(.endless)
            backoff.reset()
        } catch ProximityError.sharingInProgress {
            // The end of the other sharing leads to the next attempt.
        } catch {
            guard !Task.isCancelled else { return nil }
            let delay = backoff.next()
            host.report(SharingEvent.failed(error, retryAfter: delay))
            return delay
        }
        return nil
    }

    /// Shares for a while after a press of the button that answers no question, if the settings say so.
    package func shareByButton() async {
        guard host.settings.proximity.share == .button, await !nearby.isSharing else { return }
        do {
            try await share(.lasting(.seconds(60 * host.settings.proximity.shareMinutes)))
        } catch {
            host.report(SharingEvent.failed(error, retryAfter: nil))
        }
    }
}
