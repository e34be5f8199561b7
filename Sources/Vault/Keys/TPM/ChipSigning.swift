import CTSS2
import Cryptography
import Groundwork

/// Signatures by a loaded key.
extension ChipConnection {
    /// A signature that the chip pads and codes itself (`TPM2_Sign`).
    ///
    /// - Returns: RSA: the number, as long as the modulus or shorter. ECDSA: DER (RFC 3279 section 2.2.3).
    func sign(_ digest: [UInt8], _ scheme: ChipScheme, by key: Handle, in session: Handle) throws(ChipError) -> [UInt8]
    {
        let operation = "sign"
        guard var digest = TPM2B_DIGEST(digest) else { throw .signatureUnsupported }
        var inScheme = scheme.structure
        // For keys that are not restricted, the chip need not have made the digest itself.
        var ticket = TPMT_TK_HASHCHECK()
        ticket.tag = UInt16(TPM2_ST_HASHCHECK)
        ticket.hierarchy = UInt32(TPM2_RH_NULL)
        var output: UnsafeMutablePointer<TPMT_SIGNATURE>?
        try encrypt(session, command: true, answer: false)
        try check(
            operation, esys.sign(context, key, session, Self.none, Self.none, &digest, &inScheme, &ticket, &output))
        return try take(operation, output) { signature in
            var bytes = [UInt8](repeating: 0, count: MemoryLayout<TPMT_SIGNATURE>.size)
            var count = 0
            guard library.marshaling.calls.write_signature(&signature, &bytes, bytes.count, &count) == 0 else {
                return nil
            }
            return scheme.signature(in: bytes[..<count])
        }
    }

    /// The private key's exponent applied to a block as long as the modulus (`TPM2_RSA_Decrypt` without a scheme).
    func applyExponent(to block: [UInt8], by key: Handle, in session: Handle) throws(ChipError) -> [UInt8] {
        let operation = "sign a block"
        guard var input = TPM2B_PUBLIC_KEY_RSA(block) else { throw .signatureUnsupported }
        var scheme = TPMT_RSA_DECRYPT()
        scheme.scheme = UInt16(TPM2_ALG_NULL)
        var label = TPM2B_DATA()
        var output: UnsafeMutablePointer<TPM2B_PUBLIC_KEY_RSA>?
        try encrypt(session, command: true, answer: true)
        try check(
            operation,
            esys.rsa_decrypt(context, key, session, Self.none, Self.none, &input, &scheme, &label, &output))
        return try take(operation, output) { output in
            let bytes = output.withBytes { Array($0) }
            return (1...block.count).contains(bytes.count) ? bytes.padded(to: block.count) : nil
        }
    }
}

/// How a chip signs.
enum ChipScheme: Equatable {
    case pkcs1(Digest)
    /// With a salt as long as the digest, or the longest: the chip decides.
    case pss(Digest)
    /// Of a digest cut to 32 bytes, as P-256 uses it (FIPS 186-4 section 6.4): all chips know SHA-256, few the longer
    /// ones.
    case ecdsa

    private var numbers: (scheme: UInt16, hash: UInt16) {
        switch self {
        case .pkcs1(let hash): (UInt16(TPM2_ALG_RSASSA), hash.chipNumber)
        case .pss(let hash): (UInt16(TPM2_ALG_RSAPSS), hash.chipNumber)
        case .ecdsa: (UInt16(TPM2_ALG_ECDSA), Digest.sha256.chipNumber)
        }
    }

    var structure: TPMT_SIG_SCHEME {
        var scheme = TPMT_SIG_SCHEME()
        scheme.scheme = numbers.scheme
        // All schemes that have a hash have it at the same place.
        scheme.details.any.hashAlg = numbers.hash
        return scheme
    }

    /// Reads `TPMT_SIGNATURE`; `nil` if it is not one of this scheme.
    func signature(in bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var reader = WireReader(bytes)
        guard reader.uint16() == numbers.scheme, reader.uint16() == numbers.hash,
            let first = reader.sized(atMost: 512)
        else { return nil }
        if case .ecdsa = self {
            guard let second = reader.sized(atMost: 32), first.count <= 32, reader.isAtEnd else { return nil }
            return ECDSASignature.der(first, second)
        }
        return reader.isAtEnd ? first : nil
    }
}

/// ECDSA-Sig-Value (RFC 3279 section 2.2.3).
enum ECDSASignature {
    /// - Parameters: unsigned numbers of at most 32 bytes.
    static func der(_ r: [UInt8], _ s: [UInt8]) -> [UInt8] {
        let numbers = integer(r) + integer(s)
        return [0x30, UInt8(numbers.count)] + numbers
    }

    private static func integer(_ number: [UInt8]) -> [UInt8] {
        var bytes = Array(number.drop { $0 == 0 })
        if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: 0) }
        return [0x02, UInt8(bytes.count)] + bytes
    }
}

extension Digest {
    /// Its number in TPM 2.0 part 2 section 6.3.
    fileprivate var chipNumber: UInt16 {
        switch self {
        case .sha256: UInt16(TPM2_ALG_SHA256)
        case .sha384: UInt16(TPM2_ALG_SHA384)
        case .sha512: UInt16(TPM2_ALG_SHA512)
        }
    }
}
