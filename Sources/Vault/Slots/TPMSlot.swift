import Cryptography

/// A key that is sealed in a TPM 2.0: only the chip that sealed it gives it back, and if it is bound to registers
/// (PCRs), only while they have the same values.
///
/// A slot with registers is lost with an update of the firmware; a vault with one needs another slot.
public struct TPMSlot: SlotKey {
    public let kind = Slot.Kind.tpm
    private let chip: Chip
    private let registers: ChipRegisters

    /// - Parameter registers: what a new slot is bound to. An existing one keeps its own.
    public init(_ chip: Chip, registers: ChipRegisters = .none) {
        self.chip = chip
        self.registers = registers
    }

    /// Seals 32 random bytes, and unseals them again to see that it works.
    ///
    /// - Throws: ``VaultError/chip(_:)``
    public func makeWrappingKey() async throws(VaultError) -> (key: SecretBytes, parameters: [UInt8]) {
        let key = try explained { try SecretBytes.random(Seal.keyBytes) }
        let parameters = try chipped { () throws(ChipError) in
            try chip.run { connection throws(ChipError) in
                let policy = try connection.policy(of: registers)
                let session = try connection.startSaltedSession()
                let object = try connection.create(.sealed(policy: policy), content: key, in: session)
                try connection.flush(session)
                guard try connection.unseal(object, registers: registers) == key else {
                    throw ChipError.answerMalformed(operation: "unseal a secret")
                }
                return Parameters(object: object, primaryName: connection.primaryName, registers: registers)
            }
        }
        return (key, parameters.encoded())
    }

    /// - Throws: ``VaultError/chip(_:)``; ``VaultError/slotParametersRefused(kind:)``
    public func wrappingKey(from parameters: [UInt8]) async throws(VaultError) -> SecretBytes {
        guard let parameters = Parameters(decoding: parameters) else { throw .slotParametersRefused(kind: kind) }
        let key = try chipped { () throws(ChipError) in
            try chip.run(named: parameters.primaryName) { connection throws(ChipError) in
                try connection.unseal(parameters.object, registers: parameters.registers)
            }
        }
        guard key.count == Seal.keyBytes else { throw .slotParametersRefused(kind: kind) }
        return key
    }

    /// What a slot stores. Not secret: the private part is encrypted by the chip.
    struct Parameters: Equatable {
        let object: ChipObject
        /// Of the primary key.
        let primaryName: [UInt8]
        let registers: ChipRegisters

        private static let purpose = "tpm sealed"

        init(object: ChipObject, primaryName: [UInt8], registers: ChipRegisters) {
            self.object = object
            self.primaryName = primaryName
            self.registers = registers
        }

        /// `nil` if it is not exactly as ``encoded()`` writes it, or the object is not one of our templates.
        init?(decoding bytes: [UInt8]) {
            guard bytes.count <= StoredSlot.parametersLimit,
                var reader = FieldReader(bytes, purpose: Self.purpose), reader.int64() == ChipTemplate.storageID,
                let primaryName = reader.field(), ChipObject.isName(primaryName), let publicArea = reader.field(),
                let privateArea = reader.field(), (1...ChipObject.areaLimit).contains(privateArea.count),
                let registers = reader.int64().flatMap({ ChipRegisters(mask: $0) }), reader.isAtEnd,
                Self.isSealed(publicArea, boundTo: registers)
            else { return nil }
            object = ChipObject(publicArea: publicArea, privateArea: privateArea)
            self.primaryName = primaryName
            self.registers = registers
        }

        func encoded() -> [UInt8] {
            var writer = FieldWriter(purpose: Self.purpose)
            writer.append(ChipTemplate.storageID)
            writer.append(primaryName)
            writer.append(object.publicArea)
            writer.append(object.privateArea)
            writer.append(Int64(registers.mask))
            return writer.bytes
        }

        private static func isSealed(_ area: [UInt8], boundTo registers: ChipRegisters) -> Bool {
            // The policy is after the type, the name's hash, the attributes and its own count.
            let policy = registers.isEmpty ? [] : Array(area.dropFirst(10).prefix(ChipTemplate.digestBytes))
            let head = ChipTemplate.sealed(policy: policy).head
            var reader = WireReader(area.dropFirst(head.count))
            return registers.isEmpty == policy.isEmpty && area.starts(with: head)
                && reader.sized(atMost: ChipTemplate.digestBytes)?.count == ChipTemplate.digestBytes && reader.isAtEnd
        }
    }
}
