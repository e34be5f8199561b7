import Groundwork
import LocalAPI
import Synchronization

/// Follows the daemon until the status is as wanted, across its starts and stops.
final class StatusWatch: Sendable {
    private let client: LocalClient
    private let account: AccountOption
    private let states: [WaitState]
    private let missing = Mutex("the daemon is not running")

    init(client: LocalClient, account: AccountOption, states: [WaitState]) {
        (self.client, self.account, self.states) = (client, account, states)
    }

    /// What was missing when the status was last asked for.
    var reason: String { missing.withLock { $0 } }

    /// - Throws: `LocalAPIError` for what waiting does not change.
    func run() async throws {
        // Between attempts to reach a daemon that does not listen: the status is not asked for by the clock.
        var backoff = Backoff(initial: .milliseconds(100), cap: .seconds(1))
        while true {
            do {
                if try await follow({ backoff.reset() }) { return }
            } catch let error as LocalAPIError where error.mayPass {
                missing.withLock { $0 = error.message }
            }
            try await Task.sleep(for: backoff.next())
        }
    }

    /// - Returns: whether the status is as wanted; otherwise the stream of events has ended.
    private func follow(_ opened: () -> Void) async throws -> Bool {
        let records = client.records("/v1/events", as: .lines)
        // Before the status is asked for: nothing that happens from now on is missed.
        try await records.open()
        opened()
        while true {
            let (unmet, hasOutbox) = try await unmet()
            if unmet.isEmpty { return true }
            if unmet == [.outboxEmpty], hasOutbox {
                // No event says that a message has gone.
                _ = try await client.get("/v1/outbox/empty", timeout: .seconds(3600))
                // A board that goes on sending has something in its outbox again.
                if try await self.unmet().states.allSatisfy({ $0 == .outboxEmpty }) { return true }
            } else if try await records.next() == nil {
                return false
            }
        }
    }

    private func unmet() async throws -> (states: [WaitState], hasOutbox: Bool) {
        let status = try await client.get("/v1/status")
        let chosen = try await account.chosen(by: client)
        let own = if let name = chosen.name { try await client.get("/v1/accounts/\(name)") } else { status }
        let unmet = states.filter { !$0.isMet(by: status, account: own) }
        missing.withLock { $0 = unmet.map { $0.shown(by: status, account: own) }.joined(separator: ", ") }
        return (unmet, status["outbox"]?["depth"] != nil)
    }
}

extension LocalAPIError {
    /// Whether it may be over soon: the daemon starts, stops or waits for its store, or is busy.
    fileprivate var mayPass: Bool {
        if isEndOfDaemon { return true }
        guard case .remote(_, let explanation) = self else { return false }
        return explanation.kind.exitStatus == .temporary || explanation.kind == .unavailable
    }
}
