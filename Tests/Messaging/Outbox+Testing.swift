import Dispatch

@testable import Messaging
@testable import Storage

extension Outbox {
    /// Keeps the storage thread busy.
    func hold(_ gate: DispatchSemaphore) { gate.wait() }

    func removeAcknowledgedForTest() throws { try removeAcknowledged() }
}

extension InboxStore {
    /// What the statements have cost so far.
    func operations() throws -> Int { try use { try $0.database.operations } }
}
