import CTSS2

/// The code that a call of the TPM2 Software Stack returns: a layer of the stack, and a code of that layer.
struct ChipCode: Equatable {
    let raw: UInt32

    enum Layer: Equatable {
        case chip, connection, stack
    }

    var layer: Layer {
        switch raw & layerMask {
        // A resource manager answers like a chip: the kernel's with layer 11, tpm2-abrmd with layer 12.
        case 0, 11 << 16, 12 << 16: .chip
        case 10 << 16: .connection
        default: .stack
        }
    }

    /// A chip's code without the number of the parameter, handle or session that it is about (TPM 2.0 part 2 section
    /// 6.6.2): format one has bit 7 set, the number in bits 8 to 11, and bit 6 for a parameter.
    var base: UInt32 {
        let code = raw & 0xFFFF
        return code & 0x80 != 0 ? code & 0xBF : code
    }

    /// The error for this code; `nil` for success.
    ///
    /// - Parameter operation: completes the sentence "cannot …".
    func error(_ operation: String) -> ChipError? {
        guard raw != 0 else { return nil }
        switch (layer, base) {
        case (.chip, 0x9F): return .otherChip
        case (.chip, 0x9D): return .registersChanged
        case (.chip, 0x921): return .lockedOut
        case (.chip, _) where Self.busy.contains(base): return .busy(operation: operation)
        case (.chip, _): return .refused(operation: operation, code: raw)
        case (.connection, TSS2_BASE_RC_TRY_AGAIN): return .busy(operation: operation)
        case (.connection, TSS2_BASE_RC_MALFORMED_RESPONSE), (.connection, TSS2_BASE_RC_INSUFFICIENT_BUFFER):
            return .answerMalformed(operation: operation)
        case (.connection, _): return .gone(operation: operation)
        case (.stack, _) where Self.malformed.contains(base): return .answerMalformed(operation: operation)
        case (.stack, _): return .refused(operation: operation, code: raw)
        }
    }

    /// Whether the chip found an authorization value wrong.
    var isUnauthorized: Bool { layer == .chip && (base == 0x8E || base == 0xA2) }

    /// TPM_RC_NV_DEFINED.
    var isIndexTaken: Bool { layer == .chip && base == 0x14C }

    /// TPM_RC_NV_UNINITIALIZED: nothing was written to the index since it was made.
    var isIndexUnwritten: Bool { layer == .chip && base == 0x14A }

    /// TPM_RC_HANDLE.
    var isHandleUnknown: Bool { layer == .chip && base == 0x8B }

    /// Of the chip: a register was extended meanwhile, no room for another object or session, yielded, self-test,
    /// writes too fast, try again, memory that does not answer.
    private static let busy: Set<UInt32> = [
        0x128, 0x901, 0x902, 0x903, 0x904, 0x905, 0x906, 0x908, 0x90A, 0x920, 0x922, 0x923,
    ]

    /// Of the stack, when it reads an answer.
    private static let malformed: Set<UInt32> = [
        TSS2_BASE_RC_GENERAL_FAILURE, TSS2_BASE_RC_INSUFFICIENT_BUFFER, TSS2_BASE_RC_BAD_SIZE,
        TSS2_BASE_RC_MALFORMED_RESPONSE, TSS2_BASE_RC_INSUFFICIENT_RESPONSE, TSS2_BASE_RC_RSP_AUTH_FAILED,
    ]
}

/// `TSS2_RC_LAYER_MASK`, which is a function macro in C.
private let layerMask: UInt32 = 0xFF << 16
