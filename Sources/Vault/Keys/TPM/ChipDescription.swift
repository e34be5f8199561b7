import CTSS2

/// What a TPM says about itself.
public struct ChipDescription: Sendable, Equatable {
    /// As registered with the Trusted Computing Group, such as `STM` or `IFX`.
    public let manufacturer: String
    public let firmware: String
    /// Wrong authorization values since it last forgot one. The keys of this program do not count.
    public let failedTries: Int
    /// So many lock it.
    public let tryLimit: Int

    public init(manufacturer: String, firmware: String, failedTries: Int, tryLimit: Int) {
        self.manufacturer = manufacturer
        self.firmware = firmware
        self.failedTries = failedTries
        self.tryLimit = tryLimit
    }
}

extension Chip {
    /// Asks the chip; may block for seconds.
    ///
    /// - Throws: ``VaultError/chip(_:)``
    public func describe() throws(VaultError) -> ChipDescription {
        try chipped { () throws(ChipError) in
            try run { connection throws(ChipError) in
                let version = try connection.property(LATCHKEY_TPM_FIRMWARE)
                let manufacturer = try connection.property(LATCHKEY_TPM_MANUFACTURER)
                let letters = (0..<4).map { UInt8(manufacturer >> (24 - 8 * UInt32($0)) & 0xFF) }
                return ChipDescription(
                    manufacturer: String(
                        decoding: letters.filter { (0x21...0x7E).contains($0) }, as: UTF8.self),
                    firmware: "\(version >> 16).\(version & 0xFFFF)",
                    failedTries: Int(try connection.property(LATCHKEY_TPM_FAILED_TRIES)),
                    tryLimit: Int(try connection.property(LATCHKEY_TPM_TRY_LIMIT)))
            }
        }
    }
}

extension ChipConnection {
    /// A property of TPM 2.0 part 2 section 6.13.
    fileprivate func property(_ number: Int) throws(ChipError) -> UInt32 {
        let (property, operation) = (UInt32(number), "say what it is")
        var more: UInt8 = 0
        var data: UnsafeMutablePointer<TPMS_CAPABILITY_DATA>?
        try check(
            operation,
            esys.get_capability(
                context, Self.none, Self.none, Self.none, UInt32(TPM2_CAP_TPM_PROPERTIES), property, 1, &more, &data))
        return try take(operation, data) { data in
            let found = data.data.tpmProperties
            // A chip without it answers with the next one that it has.
            guard data.capability == UInt32(TPM2_CAP_TPM_PROPERTIES), found.count == 1,
                found.tpmProperty.0.property == property
            else { return nil }
            return found.tpmProperty.0.value
        }
    }
}
