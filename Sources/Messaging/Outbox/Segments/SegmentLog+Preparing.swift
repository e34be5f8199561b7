import Groundwork
import Storage

extension SegmentLog {
    /// How many zeros are written behind a transaction at once, in bytes. They are written a second time when messages
    /// take their place.
    static let ahead = 1 << 15
    /// Transactions up to so many bytes are small. Zeros cost as many bytes as what will take their place; the journal,
    /// which they spare, has 12 KiB for each sync of a file that became longer.
    static let smallBytes = 1 << 13

    /// Writes zeros behind the transaction that is being written, where small ones follow each other. They become
    /// durable with it. The next ones take their place: a sync of them then writes their pages alone, as neither the
    /// length of the file nor its map of blocks has changed.
    ///
    /// Zeros are not a frame. What is read at a start does not depend on whether, or how far, they were written.
    func prepare() {
        let isSmall = tail - segments[segments.count - 1].bytes <= Self.smallBytes
        defer { wasSmall = isSmall }
        guard tail > prepared else { return }
        prepared = tail
        // Not beyond the segment's own end, and only where the room is kept: messages must be able to leave on a full
        // disk.
        let end = (min(tail + Self.ahead, segmentBytes) + 4095) / 4096 * 4096
        guard isSmall, wasSmall, tail < end, end <= reserved else { return }
        let zeros = [UInt8](repeating: 0, count: end - tail)
        if (try? file?.write(zeros, at: tail)) != nil {
            prepared = end
            killPoint("outbox-room-written")
        }
    }

    /// Takes over what an earlier start has prepared behind the newest segment's last transaction, or cuts off what a
    /// power cut has left there.
    func takeOverRoom(upTo size: Int, _ reader: SegmentReader) throws(StorageError) {
        let room = size - tail
        if room <= Self.ahead + 4096, try reader.isZero(tail..<size) { prepared = size } else { cut() }
    }
}
