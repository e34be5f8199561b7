import Groundwork
import LocalAPI

/// The events of a stream of the daemon, also of the daemon that comes after it.
///
/// A stream that ends because the daemon does is opened again, with a note on standard error: what happened in between is
/// not in it.
struct Following {
    let client: LocalClient
    let path: String
    /// Whether the daemon has answered already: one that does not run at all is an error.
    var isKnown = false
    var backoff = Backoff(initial: .milliseconds(500), cap: .seconds(15))

    /// - Parameter take: is given each event; ends the stream by `false`.
    /// - Throws: `LocalAPIError` for anything else than an end of the daemon, and what `take` throws.
    func run(_ take: (LocalEvent) async throws -> Bool) async throws {
        var (isKnown, hasToldOfEnd, backoff) = (isKnown, false, backoff)
        while !Task.isCancelled {
            var reason = "the daemon ended the stream"
            do {
                for try await event in client.events(path) {
                    (isKnown, hasToldOfEnd) = (true, false)
                    backoff.reset()
                    guard try await take(event) else { return }
                }
            } catch let error as LocalAPIError where isKnown && error.isEndOfDaemon {
                reason = error.message
            }
            if !hasToldOfEnd { Terminal.error("latchkey: \(reason); waiting for the daemon to come back") }
            hasToldOfEnd = true
            try await Task.sleep(for: backoff.next())
        }
    }
}

extension LocalAPIError {
    /// Whether the daemon is gone, going or just coming: a daemon that starts takes a moment until it has its registration.
    var isEndOfDaemon: Bool {
        switch self {
        case .daemonNotRunning, .noAnswer: true
        case .remote(_, let explanation):
            [
                "local-api.stopping", "agent.not-enrolled", "gateway.not-registered", "gateway.awaiting-activation",
                "messaging.outbox-unusable",
            ].contains(explanation.code)
        default: false
        }
    }
}
