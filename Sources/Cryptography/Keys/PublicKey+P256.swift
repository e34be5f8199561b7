/// The form in which chips and tokens give the public key of a key pair on P-256: its point alone.
extension PublicKey {
    /// Of each coordinate.
    static let p256NumberBytes = 32
    /// Length of an uncompressed point in bytes: 4 and both coordinates (SEC 1 section 2.3.3).
    public static let p256PointBytes = 65

    /// A SubjectPublicKeyInfo (RFC 5480 section 2) on P-256 up to its point.
    private static let p256Prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE,
        0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    /// - Parameter point: uncompressed, of ``p256PointBytes``.
    /// - Throws: ``CryptographyError``, also for a point that is not on the curve.
    public convenience init(p256Point point: [UInt8]) throws(CryptographyError) {
        guard point.count == Self.p256PointBytes, point.first == 4 else {
            throw .malformed(.publicKey, reason: "it is not an uncompressed point on P-256")
        }
        try self.init(spki: Self.p256Prefix + point)
    }

    /// The uncompressed point of a key on P-256; `nil` for another kind.
    public var p256Point: [UInt8]? {
        guard spki.count == Self.p256Prefix.count + Self.p256PointBytes, spki.starts(with: Self.p256Prefix) else {
            return nil
        }
        let point = Array(spki.suffix(Self.p256PointBytes))
        return point[0] == 4 ? point : nil
    }
}
