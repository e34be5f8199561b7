import Storage

/// A piece of a transaction, as written to a segment: 32 bytes, then records. Integers are little-endian.
///
/// | offset | bytes | |
/// | --- | --- | --- |
/// | 0 | 8 | the outbox's mark: chosen at random, so that nothing that a program publishes looks like a frame |
/// | 8 | 4 | CRC-32C of all that follows |
/// | 12 | 4 | length of the records |
/// | 16 | 8 | where the transaction begins in this file |
/// | 24 | 8 | twice the transaction's number, and 1 more in its last frame |
///
/// A transaction counts once its last frame is there. The next one is written after the last one is on the disk, so
/// only one can be torn.
struct OutboxFrame: Equatable {
    static let headerBytes = 32
    /// The most bytes of records: a message of the greatest payload, its topic, and what was there before it.
    static let limit = OutboxPolicy.greatestPayload + Topic.limit + (1 << 17)

    var length: Int
    var start: Int
    var number: UInt64
    var isLast: Bool

    enum Parsed: Equatable {
        case frame(OutboxFrame)
        /// There is none that begins here; or there are so many bytes of it, and they are not given.
        case none
        case needs(Int)
    }

    /// - Parameter bytes: what may begin with a frame.
    static func parse(_ bytes: UnsafeRawBufferPointer, mark: UInt64) -> Parsed {
        guard bytes.count >= headerBytes else { return .needs(headerBytes) }
        func number(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        let (sizes, start, counter) = (number(8), number(16), number(24))
        let length = Int(sizes >> 32)
        guard number(0) == mark, length <= limit, let start = Int(exactly: start) else { return .none }
        guard bytes.count >= headerBytes + length else { return .needs(headerBytes + length) }
        let checked = UnsafeRawBufferPointer(rebasing: bytes[12..<headerBytes + length])
        guard CRC32C.checksum(checked) == UInt32(truncatingIfNeeded: sizes) else { return .none }
        return .frame(
            OutboxFrame(length: length, start: start, number: counter >> 1, isLast: counter & 1 == 1))
    }

    /// Fills the first 32 bytes of a frame whose records are there.
    static func seal(_ bytes: inout [UInt8], mark: UInt64, start: Int, number: UInt64, isLast: Bool) {
        let length = bytes.count - headerBytes
        bytes.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: mark.littleEndian, as: UInt64.self)
            bytes.storeBytes(of: UInt32(length).littleEndian, toByteOffset: 12, as: UInt32.self)
            bytes.storeBytes(of: UInt64(start).littleEndian, toByteOffset: 16, as: UInt64.self)
            bytes.storeBytes(of: (number << 1 | (isLast ? 1 : 0)).littleEndian, toByteOffset: 24, as: UInt64.self)
            let checksum = CRC32C.checksum(UnsafeRawBufferPointer(rebasing: bytes[12...]))
            bytes.storeBytes(of: checksum.littleEndian, toByteOffset: 8, as: UInt32.self)
        }
    }
}
