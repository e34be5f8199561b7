public import Cryptography

/// What a user's secret becomes: an integer α from 0 to 16,383 (MPIN 2.6). It never leaves the device.
///
/// The secret is a text; its leading zeros count. The 10,000 PINs of four digits have 6,331 different factors, and
/// longer secrets have at most 16,384: a longer one adds no strength.
public final class PINFactor: Sendable {
    let value: G1Factor

    /// - Parameter secret: characters of printable ASCII (0x20 to 0x7E), as many as there are: what the reference makes
    ///   of others depends on its compiler.
    /// - Throws: ``SecretRefusal``
    public init(secret: SecretBytes) throws(SecretRefusal) {
        guard secret.count > 0 else { throw .empty }
        guard secret.withUnsafeBytes({ $0.allSatisfy { (0x20...0x7E).contains($0) } }) else { throw .notPrintable }
        value = secret.withUnsafeBytes { G1Factor(Self.factor(of: Self.hash(of: $0))) }
    }

    /// The string hash of Java, over bytes.
    static func hash(of bytes: UnsafeRawBufferPointer) -> Int32 {
        bytes.reduce(0) { hash, byte in hash &* 31 &+ Int32(byte) }
    }

    /// The remainder has the sign of the hash; the low 14 bits of a negative one are 16,384 more.
    static func factor(of hash: Int32) -> UInt16 { UInt16(truncatingIfNeeded: hash % 10_000) & 0x3FFF }
}

/// Why a text is not taken as a PIN.
public enum SecretRefusal: Error, Equatable, Sendable {
    /// Nothing was entered.
    case empty
    /// It has a character that is not printable ASCII.
    case notPrintable
}
