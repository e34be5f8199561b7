import Dispatch

@testable import Messaging

extension Outbox {
    /// Keeps the storage thread busy.
    func hold(_ gate: DispatchSemaphore) { gate.wait() }

    func removeAcknowledgedForTest() throws { try removeAcknowledged() }
}
