import FoundationEssentials
import Synchronization

/// The time of the gateway's last answer, and the last failure, since the start.
final class ContactLog: Sendable {
    struct Entries: Sendable {
        var lastContact: Date?
        var lastFailure: GatewayStatus.Failure?
    }

    private let log = Mutex(Entries())

    var entries: Entries { log.withLock { $0 } }

    func noteContact(at date: Date) { log.withLock { $0.lastContact = date } }

    /// Runs work whose failure should appear in the status, and clears that failure when it succeeds.
    func noting<Value>(by clocks: SessionClocks, _ work: () async throws -> Value) async throws -> Value {
        do {
            let value = try await work()
            log.withLock { $0.lastFailure = nil }
            return value
        } catch {
            // A missing login is not a problem of the board or its gateway.
            if let error = error as? GatewayError, error != .userRequired {
                let failure = GatewayStatus.Failure(error: error, at: clocks.date())
                log.withLock { $0.lastFailure = failure }
            }
            throw error
        }
    }
}
