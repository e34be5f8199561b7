import Groundwork

/// A service that starts again when it fails, after a delay that grows, until the process is told to stop.
///
/// One part that fails must not take the others with it: a broken sensor never costs the connection.
struct Restarting: Service {
    /// What ran so long has proved itself: its next failure is a first one.
    static let proof = Duration.seconds(600)

    var backoff = Backoff(initial: .seconds(1), cap: .seconds(300))
    /// Told of each failure, with the delay before the next start.
    let onFailure: @Sendable (any Error, Duration) -> Void
    let body: @Sendable () async throws -> Void

    func run() async {
        var backoff = backoff
        while !Task.isCancelled {
            let start = ContinuousClock.now
            do {
                // One that returns has nothing more to do.
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
