import Groundwork
import Storage

extension SegmentLog {
    /// Sets damaged segments aside, and writes anew what can be read of them. Messages that cannot be read count as
    /// dropped.
    ///
    /// - Returns: the new name of the first damaged one, and how many messages were rescued.
    func repair() throws(StorageError) -> (setAside: String?, rescued: Int) {
        if !isNewestWhole {
            unfinished = try lastWithoutEnd()
            try rebuildState()
        }
        defer { unfinished = nil }
        var (setAside, rescued): (String?, Int) = (nil, 0)
        for index in segments.indices where try !isWhole(index) {
            let name = try PlainFile.setAside(name(segments[index].first))
            setAside = setAside ?? name
            rescued += try rewrite(index, isDamaged: true)
        }
        let found = try count()
        try begin()
        tidiesNext()
        var ledger = state.ledger
        ledger.count(max(0, ledger.depth - found.depth), droppedAs: .unsendable)
        ledger.removed = ledger.accepted - Int64(found.depth)
        ledger.removedBytes = ledger.acceptedBytes - Int64(found.bytes)
        save(ledger)
        try commit()
        return (setAside, rescued)
    }

    /// Collects the state from all segments, past damage: each has what it was when that segment was begun.
    private func rebuildState() throws(StorageError) {
        state = OutboxState()
        let scan = SegmentScan(self, after: 0)
        (scan.passesDamage, scan.collectsState) = (true, true)
        while try scan.next() != nil {}
        state.newest = max(state.newest, segments[segments.count - 1].first - 1)
        state.ledger.accepted = max(state.ledger.accepted, state.newest)
    }

    /// The number of a transaction that the newest segment ends with and whose end is missing: it was not accepted,
    /// unless it is known to have been on the disk.
    private func lastWithoutEnd() throws(StorageError) -> UInt64? {
        let reader = try SegmentReader(name(segments[segments.count - 1].first), mark: mark, of: path)
        let size = try reader.size()
        var (latest, hasEnd, place): (UInt64, Bool, Int?) = (0, true, 0)
        while let offset = place {
            var next = offset
            if let (frame, _) = try reader.frame(at: offset, limit: size) {
                if frame.number >= latest {
                    hasEnd = frame.isLast || (frame.number == latest && hasEnd)
                    latest = frame.number
                }
                next += OutboxFrame.headerBytes + frame.length - 1
            }
            place = try reader.candidate(after: next, limit: size)
        }
        return hasEnd || latest <= synced ? nil : latest
    }

    private func isWhole(_ index: Int) throws(StorageError) -> Bool {
        // What is missing at the end of the newest one does not show.
        guard index < segments.count - 1 else { return isNewestWhole }
        do {
            let scan = SegmentScan(self, after: segments[index].first - 1, through: last(of: index))
            while try scan.next() != nil {}
            return true
        } catch  where error.isDamage {
            return false
        }
    }
}
