import COpenSSL

/// A point of BN254CX's group G1, never infinity, wiped with the last reference.
///
/// Everything that can first need the group can throw ``CurveError/unavailable(reason:)``: the group is made, and
/// tested with a known computation, on first use.
public final class G1Point: Sendable {
    /// The length of an encoding, in bytes.
    public static let byteCount = 65
    /// The length of an input of ``init(mapping:)``, in bytes.
    public static let hashByteCount = 32

    private let group: CurveGroup
    /// An `EC_POINT`.
    ///
    /// `nonisolated(unsafe)` is correct because nothing changes it after `init`: every function takes it as `const`,
    /// and then threads may share it (openssl-threads(7)).
    private nonisolated(unsafe) let handle: OpaquePointer

    /// - Parameter write: sets the point. If it throws, or leaves infinity, the memory is wiped.
    init(in group: CurveGroup, _ write: (OpaquePointer) throws(CurveError) -> Void) throws(CurveError) {
        self.group = group
        handle = try group.newPoint()
        // If this throws, `deinit` runs because the object is already initialized.
        try write(handle)
        guard EC_POINT_is_at_infinity(group.handle, handle) == 0 else { throw .infinity }
    }

    deinit { EC_POINT_clear_free(handle) }

    /// Reads `04`, X and Y of 32 bytes each, highest byte first (MPIN 2.2).
    /// - Throws: ``CurveError/notAPoint(reason:)`` for any other form, coordinates that are not below the prime, and
    ///   a point that is not on the curve.
    public convenience init(encoding: [UInt8]) throws(CurveError) {
        try self.init(encoding: encoding, in: CurveGroup.shared.get())
    }

    convenience init(encoding: [UInt8], in group: CurveGroup) throws(CurveError) {
        try self.init(in: group) { point throws(CurveError) in try group.read(encoding, into: point) }
    }

    /// The point of a hash (MPIN 2.4). Not of constant time: the hash must be public.
    /// - Parameter hash: 32 bytes.
    public convenience init(
        mapping hash: [UInt8], in scratch: borrowing CurveScratch = CurveScratch()
    ) throws(CurveError) {
        try self.init(mapping: hash, of: CurveGroup.shared.get(), in: scratch)
    }

    convenience init(
        mapping hash: [UInt8], of group: CurveGroup, in scratch: borrowing CurveScratch
    ) throws(CurveError) {
        precondition(hash.count == Self.hashByteCount, "a hash of \(Self.hashByteCount) bytes is needed")
        try self.init(in: group) { point throws(CurveError) in try group.map(hash, to: point, in: scratch) }
    }

    /// The encoding that ``init(encoding:)`` reads. The array is not wiped: for points that go out.
    public var encoding: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.byteCount)
        bytes.withUnsafeMutableBytes(encode)
        return bytes
    }

    /// The encoding of a point that is a secret.
    public var secretEncoding: SecretBytes { SecretBytes(count: Self.byteCount, encode) }

    private func encode(into bytes: UnsafeMutableRawBufferPointer) {
        let count = EC_POINT_point2oct(
            group.handle, handle, POINT_CONVERSION_UNCOMPRESSED, bytes.assumingMemoryBound(to: UInt8.self).baseAddress,
            bytes.count, nil)
        // Fails only without memory: a point that is not infinity has this length.
        guard count == Self.byteCount else { fatalError("encode a point: \(takeOpenSSLReason())") }
    }

    /// - Throws: ``CurveError/infinity`` for a point and its negative.
    public func adding(
        _ other: G1Point, in scratch: borrowing CurveScratch = CurveScratch()
    ) throws(CurveError) -> G1Point {
        try G1Point(in: group) { sum throws(CurveError) in
            try group.add(handle, other.handle, into: sum, in: scratch)
        }
    }

    /// This point plus a multiple of another, which may be zero times it.
    /// - Throws: ``CurveError/infinity`` if the sum is.
    public func adding(
        _ scalar: G1Scalar, times other: G1Point, in scratch: borrowing CurveScratch = CurveScratch()
    ) throws(CurveError) -> G1Point {
        try G1Point(in: group) { sum throws(CurveError) in
            let product = try group.newPoint()
            defer { EC_POINT_clear_free(product) }
            try group.multiply(other.handle, by: scalar.number, into: product, in: scratch)
            try group.add(handle, product, into: sum, in: scratch)
        }
    }

    /// This point plus a secret multiple of another, which may be zero times it.
    /// - Parameter other: must be public.
    /// - Throws: ``CurveError/infinity`` if the sum is.
    public func adding(
        _ factor: G1Factor, times other: G1Point, in scratch: borrowing CurveScratch = CurveScratch()
    ) throws(CurveError) -> G1Point {
        let ladder = try ShortLadder.shared.get()
        return try G1Point(in: group) { sum throws(CurveError) in
            let product = try group.newPoint()
            defer { EC_POINT_clear_free(product) }
            // In this order, so that no factor leads to infinity on the way.
            try ladder.multiply(other.handle, by: factor, into: product, and: sum, in: scratch)
            try group.add(handle, sum, into: sum, in: scratch)
            try group.add(sum, product, into: sum, in: scratch)
        }
    }

    /// - Throws: ``CurveError/infinity`` if the scalar is zero.
    public func multiplied(
        by scalar: G1Scalar, in scratch: borrowing CurveScratch = CurveScratch()
    ) throws(CurveError) -> G1Point {
        try G1Point(in: group) { product throws(CurveError) in
            try group.multiply(handle, by: scalar.number, into: product, in: scratch)
        }
    }

    public func negated() throws(CurveError) -> G1Point {
        try G1Point(in: group) { point throws(CurveError) in
            try checkCurve("copy a point", EC_POINT_copy(point, handle))
            try group.negate(point)
        }
    }
}

extension G1Point: Equatable {
    /// Not of constant time.
    public static func == (left: G1Point, right: G1Point) -> Bool {
        EC_POINT_cmp(left.group.handle, left.handle, right.handle, nil) == 0
    }
}
