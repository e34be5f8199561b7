import CTSS2

/// Platform configuration registers of a TPM, in its SHA-256 bank: what the board was started with.
public struct ChipRegisters: Sendable, Equatable {
    public static let none = ChipRegisters(mask: 0)!
    static let count = 24

    /// Bit n for register n.
    let mask: UInt32

    var isEmpty: Bool { mask == 0 }

    /// `nil` if a number is not one of 0 to 23.
    public init?(_ numbers: some Collection<Int>) {
        guard numbers.allSatisfy((0..<Self.count).contains) else { return nil }
        mask = numbers.reduce(0) { $0 | 1 << UInt32($1) }
    }

    init?(mask: Int64) {
        guard (0..<1 << Int64(Self.count)).contains(mask) else { return nil }
        self.mask = UInt32(mask)
    }

    /// In the form that commands take.
    var selection: TPML_PCR_SELECTION {
        var selection = TPML_PCR_SELECTION()
        selection.count = 1
        selection.pcrSelections.0.hash = UInt16(TPM2_ALG_SHA256)
        selection.pcrSelections.0.sizeofSelect = 3
        withUnsafeMutableBytes(of: &selection.pcrSelections.0.pcrSelect) { bytes in
            for index in 0..<3 { bytes[index] = UInt8(mask >> UInt32(8 * index) & 0xFF) }
        }
        return selection
    }
}
