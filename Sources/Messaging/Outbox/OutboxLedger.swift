/// The counts of an outbox.
///
/// Messages that are accepted change both totals by themselves; all else is recorded in the transaction that changes
/// it. So opening does not count messages.
struct OutboxLedger: Equatable {
    /// Messages accepted since the outbox was made; the newest has this number.
    var accepted: Int64 = 0
    var acceptedBytes: Int64 = 0
    var removed: Int64 = 0
    var removedBytes: Int64 = 0
    var drops = OutboxStatus.Drops()

    var depth: Int { Int(accepted - removed) }
    var bytes: Int { Int(acceptedBytes - removedBytes) }
    /// Telemetry that was refused for lack of room counts as dropped, but was never a row; less the messages that left
    /// without being delivered or dropped, because they could not be written.
    var refused: Int64 = 0
    /// Dead letters there are now, and those that were accepted once more: both left the rows without being delivered.
    var dead: Int64 = 0
    var retried: Int64 = 0
    var delivered: Int { Int(removed + refused - dead - retried) - drops.total }

    /// Whether more has changed than the newest row records.
    func mustBeSaved(after written: OutboxLedger) -> Bool {
        removed != written.removed || drops != written.drops || dead != written.dead || retried != written.retried
    }

    /// Counts a new message and gives it its number.
    mutating func accept(size: Int) -> Int64 {
        accepted += 1
        acceptedBytes += Int64(size)
        return accepted
    }

    mutating func remove(size: Int) {
        removed += 1
        removedBytes += Int64(size)
    }

    /// Counts out a message that could not be written: its publisher knows.
    mutating func withdraw(size: Int) {
        remove(size: size)
        refused -= 1
    }

    /// The counts without the newest messages, which are in memory only: what fits to the rows.
    func without(_ count: Int, bytes: Int) -> OutboxLedger {
        var ledger = self
        ledger.accepted -= Int64(count)
        ledger.acceptedBytes -= Int64(bytes)
        return ledger
    }

    mutating func count(_ count: Int, droppedAs reason: OutboxEvent.DropReason) {
        drops[keyPath: OutboxStatus.Drops.sum(of: reason)] += count
    }
}
