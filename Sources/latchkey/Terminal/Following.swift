import Groundwork
import LocalAPI

/// Follows an event stream of the daemon, also across restarts of the daemon.
///
/// A stream that ends because the daemon does is opened again, with a note on standard error: it lacks the events in
/// between.
struct Following {
    let client: LocalClient
    let path: String
    /// Whether the daemon has answered already: a daemon that does not run at all is an error.
    var isKnown = false
    var backoff = Backoff(initial: .milliseconds(500), cap: .seconds(15))

    /// - Parameter take: called with each event; returns `false` to end the stream.
    /// - Throws: `LocalAPIError` for anything but an end of the daemon, and what `take` throws.
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
    /// Whether the daemon has stopped, is stopping or just starting: it takes a moment to load its registration.
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
