/// The sums of an outbox.
///
/// What was accepted is known from the newest row, which carries both sums; what left is written in the transaction that
/// removes. So accepting writes one page, and opening counts nothing.
struct OutboxLedger: Equatable {
    /// Messages accepted since the outbox was made; the newest has this number.
    var accepted: Int64 = 0
    var acceptedBytes: Int64 = 0
    var removed: Int64 = 0
    var removedBytes: Int64 = 0
    var drops = OutboxStatus.Drops()

    var depth: Int { Int(accepted - removed) }
    var bytes: Int { Int(acceptedBytes - removedBytes) }
    /// Telemetry that was refused for lack of room counts as dropped, but was never a row.
    var refused: Int64 = 0
    var delivered: Int { Int(removed + refused) - drops.total }

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

    mutating func count(_ count: Int, droppedAs reason: OutboxEvent.DropReason) {
        switch reason {
        case .full: drops.full += count
        case .expired: drops.expired += count
        case .unsendable: drops.unsendable += count
        }
    }
}
