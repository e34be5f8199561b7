import Cryptography

/// A key of AES-256 that never leaves the vault, with the generations before it, which only decrypt.
struct SymmetricKey {
    struct Generation {
        /// Random, in the envelopes.
        let id: [UInt8]
        let key: SecretBytes
        /// How many texts it may have sealed.
        var reserved: Int64

        static func made() throws(CryptographyError) -> Generation {
            Generation(id: try Random.bytes(Envelope.keyIDBytes), key: try .random(AESGCM.keyBytes), reserved: 0)
        }
    }

    private static let purpose = "symmetric key"

    /// Of its record, which is written again with each reservation.
    let level: ProtectionLevel
    /// The last one seals.
    private(set) var generations: [Generation]

    static func made(_ level: ProtectionLevel) throws(CryptographyError) -> SymmetricKey {
        SymmetricKey(level: level, generations: [try .made()])
    }

    private init(level: ProtectionLevel, generations: [Generation]) {
        self.level = level
        self.generations = generations
    }

    var current: Generation { generations[generations.count - 1] }

    /// Reserves texts, of a new generation where the current one would have more than allowed.
    mutating func reserve(_ count: Int64, limit: Int64) throws(CryptographyError) {
        if current.reserved > limit - count { generations.append(try .made()) }
        generations[generations.count - 1].reserved += count
    }

    func encoded() -> SecretBytes {
        var writer = FieldWriter(purpose: Self.purpose)
        writer.append(level.rawValue)
        for generation in generations {
            writer.append(generation.id)
            generation.key.withUnsafeBytes { writer.append($0) }
            writer.append(generation.reserved)
        }
        return SecretBytes(writer.bytes)
    }

    /// `nil` for anything but ``encoded()``.
    init?(decoding content: SecretBytes) {
        let bytes = content.withUnsafeBytes { Array($0) }
        guard var reader = FieldReader(bytes, purpose: Self.purpose),
            let level = reader.text().flatMap(ProtectionLevel.init)
        else { return nil }
        var generations: [Generation] = []
        while !reader.isAtEnd {
            guard let id = reader.field(), id.count == Envelope.keyIDBytes, let key = reader.field(),
                key.count == AESGCM.keyBytes, let reserved = reader.int64(), reserved >= 0
            else { return nil }
            generations.append(Generation(id: id, key: SecretBytes(key), reserved: reserved))
        }
        guard !generations.isEmpty else { return nil }
        self.init(level: level, generations: generations)
    }
}
