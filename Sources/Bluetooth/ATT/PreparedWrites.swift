/// The pieces of long writes of one client, until it executes or cancels them (Bluetooth Core, Vol 3 Part F 3.4.6).
struct PreparedWrites: Sendable {
    /// Room for two of the longest values in the smallest pieces.
    static let limit = (pieces: 64, bytes: 2048)

    private struct Piece { let handle: UInt16, offset: Int, bytes: [UInt8] }

    struct Value: Equatable {
        let handle: UInt16
        var bytes: [UInt8]
    }

    private var pieces: [Piece] = []
    private var byteCount = 0

    /// - Throws: ``ATTErrorCode/prepareQueueFull``
    mutating func add(_ bytes: [UInt8], at offset: Int, of handle: UInt16) throws(ATTRefusal) {
        guard pieces.count < Self.limit.pieces, byteCount + bytes.count <= Self.limit.bytes else {
            throw ATTRefusal(.prepareQueueFull, at: handle)
        }
        pieces.append(Piece(handle: handle, offset: offset, bytes: bytes))
        byteCount += bytes.count
    }

    mutating func clear() { self = PreparedWrites() }

    /// The values that the pieces form, in order; a piece at offset 0 begins another value.
    ///
    /// - Throws: ``ATTErrorCode/invalidOffset`` for a gap, ``ATTErrorCode/invalidValueLength``
    func values() throws(ATTRefusal) -> [Value] {
        var values: [Value] = []
        for piece in pieces {
            if piece.offset == 0 { values.append(Value(handle: piece.handle, bytes: [])) }
            guard let index = values.lastIndex(where: { $0.handle == piece.handle }),
                piece.offset <= values[index].bytes.count
            else { throw ATTRefusal(.invalidOffset, at: piece.handle) }
            let end = piece.offset + piece.bytes.count
            guard end <= ATT.valueLimit else { throw ATTRefusal(.invalidValueLength, at: piece.handle) }
            values[index].bytes.replaceSubrange(piece.offset..<min(end, values[index].bytes.count), with: piece.bytes)
        }
        return values
    }
}
