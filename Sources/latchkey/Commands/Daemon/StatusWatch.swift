import Groundwork
import LocalAPI
import Synchronization

/// Follows the daemon until the status is as wanted, across its starts and stops.
final class StatusWatch: Sendable {
    private let client: LocalClient
    private let account: AccountOption
    private let states: [WaitState]
    private let missing = Mutex("the daemon is not running")
    private let progress = Mutex(Progress())

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
                show()
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
                try await waitForOutbox()
                // A board that goes on sending has something in its outbox again.
                if try await self.unmet().states.allSatisfy({ $0 == .outboxEmpty }) { return true }
            } else if try await records.next() == nil {
                return false
            }
        }
    }

    /// No event says that a message has gone: the daemon answers when the last one has. Only the number for a person is
    /// asked for by the clock.
    private func waitForOutbox() async throws {
        let counting = Task {
            while Terminal.standardError.isTerminal {
                try await Task.sleep(for: .seconds(1))
                _ = try await unmet()
            }
        }
        do {
            _ = try await client.get("/v1/outbox/empty", timeout: .seconds(3600))
            await end(counting)
        } catch {
            await end(counting)
            throw error
        }
    }

    /// From then on it shows nothing.
    private func end(_ counting: Task<Void, any Error>) async {
        counting.cancel()
        _ = await counting.result
    }

    /// Says on a terminal what is missing.
    private func show() {
        let reason = reason
        progress.withLock { $0.show("waiting: \(Terminal.standardError.shown(reason)) …", always: true) }
    }

    /// Takes the line that says so away.
    func endShowing() { progress.withLock { $0.clear() } }

    private func unmet() async throws -> (states: [WaitState], hasOutbox: Bool) {
        let status = try await client.get("/v1/status")
        let chosen = try await account.chosen(by: client)
        let own = if let name = chosen.name { try await client.get("/v1/accounts/\(name)") } else { status }
        let unmet = states.filter { !$0.isMet(by: status, account: own) }
        missing.withLock { $0 = unmet.map { $0.shown(by: status, account: own) }.joined(separator: ", ") }
        if !unmet.isEmpty { show() }
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
