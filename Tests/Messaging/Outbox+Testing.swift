import Dispatch

@testable import Messaging
@testable import Storage

extension Outbox {
    /// Keeps the storage thread busy.
    func hold(_ gate: DispatchSemaphore) { gate.wait() }

    func removeAcknowledgedForTest() throws { try removeAcknowledged() }

    /// The payloads of all messages that wait, from the first.
    func waiting() throws -> [String] {
        try rewind(arrival: nil)
        var texts: [String] = []
        while true {
            let page = try next(limit: 7, bytes: 1 << 20)
            texts += page.messages.map { String(decoding: $0.message.payload, as: UTF8.self) }
            if page.isLast { return texts }
        }
    }
}

extension InboxStore {
    /// What the statements have cost so far.
    func operations() throws -> Int { try use { try $0.database.operations } }
}
