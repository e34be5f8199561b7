import Cryptography

/// What the vault keeps of a key in a TPM, with the authorization value that the key requires.
struct TPMKeyHandle: Equatable {
    /// How a chip makes RSA signatures that fit; as a self-test has found it.
    struct Ways: OptionSet, Equatable {
        let rawValue: Int64

        /// RSASSA-PSS of the chip has a salt as long as the digest.
        static let chip = Ways(rawValue: 1)
        /// The chip applies the exponent to a block that was made here.
        static let block = Ways(rawValue: 2)
        static let all: Ways = [.chip, .block]
    }

    static let authorizationBytes = 32
    private static let purpose = "tpm key"
    private static let version: Int64 = 1
    /// The most bytes of all.
    private static let limit = 4096

    let object: ChipObject
    let publicKey: ChipPublicKey
    /// Of the primary key.
    let primaryName: [UInt8]
    /// Empty for P-256.
    var ways: Ways
    let authorization: SecretBytes

    /// `nil` if the object is not a key of our templates.
    init?(object: ChipObject, primaryName: [UInt8], ways: Ways, authorization: SecretBytes) {
        guard let publicKey = ChipPublicKey(object.publicArea) else { return nil }
        self.object = object
        self.publicKey = publicKey
        self.primaryName = primaryName
        self.ways = ways
        self.authorization = authorization
    }

    /// `nil` if it is not exactly as ``encoded()`` writes it.
    init?(decoding handle: SecretBytes) {
        guard handle.count <= Self.limit else { return nil }
        var bytes = handle.exposed()
        defer { wipe(&bytes) }
        self.init(fields: bytes)
    }

    private init?(fields bytes: [UInt8]) {
        guard var reader = FieldReader(bytes, purpose: Self.purpose), reader.int64() == Self.version,
            reader.int64() == ChipTemplate.storageID, let primaryName = reader.field(),
            ChipObject.isName(primaryName), let publicArea = reader.field(), let privateArea = reader.field(),
            (1...ChipObject.areaLimit).contains(privateArea.count), let ways = reader.int64().map(Ways.init),
            Ways.all.isSuperset(of: ways), var authorization = reader.field()
        else { return nil }
        defer { wipe(&authorization) }
        guard authorization.count == Self.authorizationBytes, reader.isAtEnd else { return nil }
        self.init(
            object: ChipObject(publicArea: publicArea, privateArea: privateArea), primaryName: primaryName, ways: ways,
            authorization: SecretBytes(authorization))
        guard publicKey.isRSA != ways.isEmpty else { return nil }
    }

    func encoded() -> SecretBytes {
        var writer = FieldWriter(purpose: Self.purpose)
        writer.append(Self.version)
        writer.append(ChipTemplate.storageID)
        writer.append(primaryName)
        writer.append(object.publicArea)
        writer.append(object.privateArea)
        writer.append(ways.rawValue)
        authorization.withUnsafeBytes { writer.append($0) }
        var bytes = writer.bytes
        // So that the bytes are wiped, and not a copy of them.
        writer = FieldWriter(purpose: Self.purpose)
        defer { wipe(&bytes) }
        return SecretBytes(bytes)
    }
}

extension ChipPublicKey {
    var isRSA: Bool {
        if case .rsa = self { return true }
        return false
    }
}
