import Cryptography

/// An object of a TPM outside of it: only the TPM that made it can use the private part.
struct ChipObject: Equatable {
    /// `TPMT_PUBLIC`.
    let publicArea: [UInt8]
    /// The content of `TPM2B_PRIVATE`.
    let privateArea: [UInt8]

    /// More than any TPM makes of a key or a secret of ours.
    static let areaLimit = 1600

    /// The Name of a primary key (TPM 2.0 part 1 section 16): SHA-256, by its number.
    static func isName(_ bytes: [UInt8]) -> Bool {
        bytes.count == 2 + ChipTemplate.digestBytes && bytes.starts(with: [0x00, 0x0B])
    }
}

/// The public half of a key in a TPM, read from its public area.
enum ChipPublicKey: Equatable {
    case rsa(modulus: [UInt8])
    case p256(x: [UInt8], y: [UInt8])

    /// `nil` if the area is not exactly one that our templates give.
    init?(_ area: [UInt8]) {
        let p256 = ChipTemplate.p256.head
        if area.starts(with: p256) {
            var reader = WireReader(area.dropFirst(p256.count))
            guard let x = reader.sized(atMost: 32), let y = reader.sized(atMost: 32), reader.isAtEnd else { return nil }
            self = .p256(x: x.padded(to: 32), y: y.padded(to: 32))
            return
        }
        // The bits are after the type, the name's hash, the attributes, the policy, the symmetric cipher and the
        // scheme.
        guard area.count > 16 else { return nil }
        let bits = UInt16(area[14]) << 8 | UInt16(area[15])
        let rsa = ChipTemplate.rsa(bits: bits).head
        var reader = WireReader(area.dropFirst(rsa.count))
        guard area.starts(with: rsa), bits >= 2048, bits % 8 == 0,
            let modulus = reader.sized(atMost: Int(bits) / 8), modulus.count == Int(bits) / 8, modulus[0] >= 0x80,
            reader.isAtEnd
        else { return nil }
        self = .rsa(modulus: modulus)
    }

    /// - Throws: `CryptographyError` for numbers that are not a key.
    func publicKey() throws(CryptographyError) -> PublicKey {
        switch self {
        case .rsa(let modulus): try PublicKey(rsaModulus: modulus, exponent: [0x01, 0x00, 0x01])
        case .p256(let x, let y): try PublicKey(spki: Self.p256Header + [0x04] + x + y)
        }
    }

    /// A SubjectPublicKeyInfo up to the point: id-ecPublicKey, prime256v1 (RFC 5480 section 2.1.1).
    private static let p256Header: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE,
        0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
}

/// Reads the encoding of TPM 2.0: big-endian numbers, bytes after their count as 2 bytes. Every function returns `nil`
/// if the bytes end too early.
struct WireReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func uint16() -> UInt16? {
        guard rest.count >= 2 else { return nil }
        defer { rest = rest.dropFirst(2) }
        return rest.prefix(2).reduce(0) { $0 << 8 | UInt16($1) }
    }

    /// `nil` also for none, or more than `limit`.
    mutating func sized(atMost limit: Int) -> [UInt8]? {
        guard let count = uint16().map(Int.init), (1...limit).contains(count), count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}

extension [UInt8] {
    /// An unsigned number with zeros before it, as many as are missing.
    func padded(to count: Int) -> [UInt8] { [UInt8](repeating: 0, count: Swift.max(0, count - self.count)) + self }
}
