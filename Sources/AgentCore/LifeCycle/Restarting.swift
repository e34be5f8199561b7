import Groundwork

/// A service that restarts after a failure, with growing delays, until the process stops.
///
/// A part that fails must not stop the others: a broken sensor never costs the connection.
package struct Restarting: Service {
    /// After a run of this length, the next failure counts as the first.
    package static let proof = Duration.seconds(600)

    package let backoff: Backoff
    /// Called after each failure, with the delay before the next start.
    package let onFailure: @Sendable (any Error, Duration) -> Void
    package let body: @Sendable () async throws -> Void

    package init(
        backoff: Backoff = Backoff(initial: .seconds(1), cap: .seconds(300)),
        onFailure: @escaping @Sendable (any Error, Duration) -> Void, body: @escaping @Sendable () async throws -> Void
    ) {
        (self.backoff, self.onFailure, self.body) = (backoff, onFailure, body)
    }

    package func run() async {
        var backoff = backoff
        while !Task.isCancelled {
            let start = ContinuousClock.now
            do {
                // A body that returns has nothing more to do.
                return try await body()
            } catch {
                guard !Task.isCancelled else { return }
                if ContinuousClock.now - start > Self.proof { backoff.reset() }
                let delay = backoff.next()
                onFailure(error, delay)
                try? await Task.sleep(for: delay)
            }
        }
    }
}
