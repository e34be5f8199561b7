/// Constants of the attribute protocol (Bluetooth Core, Vol 3 Part F 3.2 and Part G 5.2.1).
enum ATT {
    /// Largest packet before another size is negotiated, in bytes.
    static let defaultMTU = 23
    /// Room for a value of 512 bytes and the longest header of a packet that carries one; nothing larger is negotiated.
    static let largestMTU = 517
    /// The longest value, in bytes.
    static let valueLimit = 512
    /// A request or an indication that stays unanswered this long ends the bearer (Vol 3 Part F 3.3.3).
    static let transactionLimit: Duration = .seconds(30)

    /// A packet with an opcode and little-endian numbers, followed by the bytes of a value.
    static func packet(_ opcode: ATTOpcode, _ numbers: UInt16..., bytes: some Sequence<UInt8> = []) -> [UInt8] {
        var packet = [opcode.rawValue]
        for number in numbers { packet.append(littleEndian: number) }
        return packet + bytes
    }
}

/// A request that is answered with an Error Response.
struct ATTRefusal: Error, Equatable {
    let code: ATTErrorCode
    /// The attribute it failed on; 0 for none.
    let handle: UInt16

    init(_ code: ATTErrorCode, at handle: UInt16 = 0) {
        self.code = code
        self.handle = handle
    }

    /// - Parameter opcode: the request's opcode
    func response(to opcode: UInt8) -> [UInt8] {
        [
            ATTOpcode.errorResponse.rawValue, opcode, UInt8(truncatingIfNeeded: handle), UInt8(handle >> 8),
            code.rawValue,
        ]
    }
}
