/// The objects that this program has a TPM make, as `TPMT_PUBLIC` (TPM 2.0 part 2 section 12.2.4) with an empty unique
/// field, byte by byte: a primary key comes out of a seed and exactly these bytes, so they never change.
enum ChipTemplate: Equatable {
    /// The storage root key of the TCG (TPM v2.0 Provisioning Guidance 7.5.1 with template L-2 of the EK Credential
    /// Profile): P-256, AES-128 in CFB mode, attributes fixedTPM, fixedParent, sensitiveDataOrigin, userWithAuth, noDA,
    /// restricted, decrypt.
    case storage
    /// RSA that signs and decrypts, so that a block of our own can be signed. Attributes fixedTPM, fixedParent,
    /// sensitiveDataOrigin, userWithAuth, noDA, decrypt, sign.
    case rsa(bits: UInt16)
    /// P-256 that signs. Attributes fixedTPM, fixedParent, sensitiveDataOrigin, userWithAuth, noDA, sign.
    case p256
    /// A secret of ours. Attributes fixedTPM, fixedParent, noDA, and without a policy userWithAuth.
    case sealed(policy: [UInt8])

    /// What the vault keeps beside an object, to know the template of its primary key.
    static let storageID: Int64 = 1

    /// All before the unique field.
    var head: [UInt8] {
        switch self {
        case .storage: Self.p256Type + [0x00, 0x03, 0x04, 0x72] + Self.noPolicy + Self.aes128CFB + Self.p256Parameters
        case .rsa(let bits):
            [0x00, 0x01, 0x00, 0x0B, 0x00, 0x06, 0x04, 0x72] + Self.noPolicy + Self.null + Self.null
                + [UInt8(bits >> 8), UInt8(bits & 0xFF)] + Self.usualExponent
        case .p256: Self.p256Type + [0x00, 0x04, 0x04, 0x72] + Self.noPolicy + Self.null + Self.p256Parameters
        case .sealed(let policy):
            [0x00, 0x08, 0x00, 0x0B, 0x00, 0x00, 0x04, policy.isEmpty ? 0x52 : 0x12]
                + [0x00, UInt8(policy.count)] + policy + Self.null
        }
    }

    var bytes: [UInt8] {
        switch self {
        // The TCG's template has zeros as long as the coordinates.
        case .storage: head + Self.zeros + Self.zeros
        case .rsa, .sealed: head + [0, 0]
        case .p256: head + [0, 0, 0, 0]
        }
    }

    /// `TPMT_PUBLIC_PARMS` of the RSA template (part 2, 12.2.3.8).
    static func rsaParameters(bits: UInt16) -> [UInt8] {
        [0x00, 0x01] + ChipTemplate.rsa(bits: bits).head.dropFirst(10)
    }

    /// Of a policy, and of all names: SHA-256.
    static let digestBytes = 32

    private static let p256Type: [UInt8] = [0x00, 0x23, 0x00, 0x0B]
    private static let noPolicy: [UInt8] = [0x00, 0x00]
    private static let null: [UInt8] = [0x00, 0x10]
    private static let aes128CFB: [UInt8] = [0x00, 0x06, 0x00, 0x80, 0x00, 0x43]
    /// No scheme, the curve, no key derivation.
    private static let p256Parameters: [UInt8] = [0x00, 0x10, 0x00, 0x03, 0x00, 0x10]
    /// 65537.
    private static let usualExponent: [UInt8] = [0, 0, 0, 0]
    private static let zeros: [UInt8] = [0x00, 0x20] + [UInt8](repeating: 0, count: 32)
}
