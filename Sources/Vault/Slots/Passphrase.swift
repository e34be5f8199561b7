import Cryptography

/// A passphrase that a person enters: scrypt (RFC 7914) with a random salt.
public struct Passphrase: SlotKey {
    public let kind = Slot.Kind.passphrase
    private let secret: SecretBytes
    private let cost: ScryptCost

    /// 32 MiB of memory during one derivation, which takes about 0.1 s on a PC and 1 s on a small board.
    public static let usualCost = ScryptCost(n: 1 << 15, r: 8, p: 1)
    /// The limits of a slot's parameters: memory of 128 · n · r bytes (RFC 7914 section 5), blocks r and rounds p.
    static let memoryLimit = 64 << 20
    static let blockLimit = 32
    static let parallelismLimit = 4
    static let saltBytes = 16
    /// The minimum length of a new slot's passphrase in bytes, the same as for other keys. scrypt only makes guesses
    /// expensive: one graphics card finds a usual password of eight letters within days. Existing slots may have
    /// shorter ones, because the minimum was once lower.
    public static let leastBytes = 16

    public init(_ secret: SecretBytes, cost: ScryptCost = usualCost) {
        self.secret = secret
        self.cost = cost
    }

    public func makeWrappingKey() async throws(VaultError) -> (key: SecretBytes, parameters: [UInt8]) {
        guard secret.count > 0 else { throw VaultError.passphraseEmpty }
        guard secret.count >= Self.leastBytes else {
            throw VaultError.passphraseShort(bytes: secret.count, least: Self.leastBytes)
        }
        let salt = try explained { try Random.bytes(Self.saltBytes) }
        let parameters = Parameters(cost: cost, salt: salt)
        return (try derive(parameters), parameters.encoded())
    }

    public func wrappingKey(from parameters: [UInt8]) async throws(VaultError) -> SecretBytes {
        guard let parameters = Parameters(decoding: parameters) else {
            throw VaultError.slotParametersRefused(kind: kind)
        }
        return try derive(parameters)
    }

    private func derive(_ parameters: Parameters) throws(VaultError) -> SecretBytes {
        guard secret.count > 0 else { throw VaultError.passphraseEmpty }
        guard parameters.isBounded else { throw VaultError.slotParametersRefused(kind: kind) }
        return try explained {
            try KeyDerivation.scrypt(
                passphrase: secret, salt: parameters.salt, cost: parameters.cost, count: Seal.keyBytes)
        }
    }

    struct Parameters: Equatable {
        let cost: ScryptCost
        let salt: [UInt8]

        private static let purpose = "scrypt"

        init(cost: ScryptCost, salt: [UInt8]) {
            self.cost = cost
            self.salt = salt
        }

        init?(decoding bytes: [UInt8]) {
            guard var reader = FieldReader(bytes, purpose: Self.purpose), let n = reader.int64(),
                let r = reader.int64(), let p = reader.int64(), let salt = reader.field(), reader.isAtEnd
            else { return nil }
            cost = ScryptCost(n: Int(clamping: n), r: Int(clamping: r), p: Int(clamping: p))
            self.salt = salt
        }

        func encoded() -> [UInt8] {
            var writer = FieldWriter(purpose: Self.purpose)
            for number in [cost.n, cost.r, cost.p] { writer.append(Int64(number)) }
            writer.append(salt)
            return writer.bytes
        }

        /// Whether the derivation is valid and cheap enough: a vault from a stranger must not stop the board.
        var isBounded: Bool {
            let (n, r, p) = (cost.n, cost.r, cost.p)
            guard (2...Passphrase.memoryLimit).contains(n), n & (n - 1) == 0, (1...Passphrase.blockLimit).contains(r),
                (1...Passphrase.parallelismLimit).contains(p), salt.count == Passphrase.saltBytes
            else { return false }
            return 128 * n * r <= Passphrase.memoryLimit
        }
    }
}
