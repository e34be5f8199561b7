import COpenSSL
import Groundwork

/// BN254CX's group G1 in OpenSSL's hands: the points of y² = x³ + 2 over the integers modulo ``prime`` (MPIN 2.1).
///
/// The number of its points is the prime ``order``, so its cofactor is 1: every point on the curve but infinity has
/// that order, and no test of a subgroup is needed.
///
/// ## What OpenSSL promises about time
/// It knows this curve by its parameters only, so the general code computes (Montgomery multiplication of any prime).
/// - `EC_POINT_mul` of one point takes the Montgomery ladder, because order and cofactor are set: it adds the order once
///   or twice, so that every scalar has the same number of steps, swaps without branches, marks the scalar
///   `BN_FLG_CONSTTIME`, and starts from randomized projective coordinates. This is what protects x, x + y and the
///   PIN's factor.
/// - `BN_mod_add_quick` of two reduced numbers has no branch that depends on them.
/// - `EC_POINT_add`, `EC_POINT_invert`, `EC_POINT_point2oct`, `BN_nnmod` and the search for a point of a hash are not of
///   constant time. The last two only get what servers know. Additions do get secret points; what leaks is whether a
///   coordinate happens to be short, or that a point is infinity.
/// - Multiplication normalizes a number's length after each step, which a coordinate with a leading zero word shows;
///   the ladder's random coordinates make that useless for repeated measuring.
///
/// OpenSSL keeps intermediates in a `BN_CTX`, which wipes its numbers when it is freed; every computation has its own.
final class CurveGroup: Sendable {
    static let prime = "2400000008702a0db0bddf647a6366d3243fd6ee18093ee1be6623ef5c1b55b3"
    static let order = "2400000008702a0db0bddf647a6366d2c43fd6ee0cc906cebe11c0a636eb1f6d"
    private static let generatorX = "2400000008702a0db0bddf647a6366d3243fd6ee18093ee1be6623ef5c1b55b2"

    /// The group after its self-test, both made on first use.
    static let shared: Result<CurveGroup, CurveError> = Result { () throws(CurveError) in
        let group = try CurveGroup()
        try CurveSelfTest.run(in: group)
        return group
    }

    /// An `EC_GROUP`, which nothing changes after `init`: several threads may use it at once.
    nonisolated(unsafe) let handle: OpaquePointer
    private let prime: CurveNumber

    private init() throws(CurveError) {
        prime = CurveNumber(hex: Self.prime)
        let (zero, one, two) = (CurveNumber(0), CurveNumber(1), CurveNumber(2))
        let (x, order) = (CurveNumber(hex: Self.generatorX), CurveNumber(hex: Self.order))
        guard let group = EC_GROUP_new_curve_GFp(prime.handle, zero.handle, two.handle, nil) else {
            throw .unavailable(reason: takeOpenSSLReason())
        }
        handle = group
        let generator = try newPoint()
        defer { EC_POINT_clear_free(generator) }
        // Order and cofactor are what has `EC_POINT_mul` take the ladder.
        let isSet = withExtendedLifetime((zero, one, two, x, order)) {
            EC_POINT_set_affine_coordinates(group, generator, x.handle, one.handle, nil) == 1
                && EC_GROUP_set_generator(group, generator, order.handle, one.handle) == 1
        }
        guard isSet else { throw .unavailable(reason: takeOpenSSLReason()) }
    }

    deinit { EC_GROUP_free(handle) }

    /// A new point at infinity. The caller frees it with `EC_POINT_clear_free`.
    func newPoint() throws(CurveError) -> OpaquePointer {
        guard let point = EC_POINT_new(handle) else {
            throw .openSSL(operation: "make a point", reason: takeOpenSSLReason())
        }
        return point
    }

    /// Reads 65 bytes: `04`, X and Y, each below the prime, on the curve (MPIN 2.2).
    func read(_ encoding: [UInt8], into point: OpaquePointer) throws(CurveError) {
        // OpenSSL would also take infinity and the compressed and hybrid forms.
        guard encoding.count == G1Point.byteCount else {
            throw .notAPoint(reason: "it has \(encoding.count) bytes, not \(G1Point.byteCount)")
        }
        guard encoding[0] == 4 else { throw .notAPoint(reason: "it does not begin with 04") }
        guard EC_POINT_oct2point(handle, point, encoding, encoding.count, nil) == 1,
            EC_POINT_is_at_infinity(handle, point) == 0
        else { throw .notAPoint(reason: takeOpenSSLReason()) }
    }

    /// Finds the first point whose X is the hash modulo the prime or follows it, and takes the even Y (MPIN 2.4).
    ///
    /// OpenSSL refuses an X without a point, and gives the Y whose lowest bit is asked for. Half of all X have a point.
    func map(_ hash: [UInt8], to point: OpaquePointer) throws(CurveError) {
        let operation = "map a hash to a point"
        let (x, one) = (CurveNumber(hash), CurveNumber(1))
        let context = try newContext()
        defer { BN_CTX_free(context) }
        try withExtendedLifetime((x, one)) { () throws(CurveError) in
            try checkCurve(operation, BN_nnmod(x.handle, x.handle, prime.handle, context))
            // The end is never reached: the chance that 256 X in a row have no point is 1 in 2^256.
            for _ in 0..<256 {
                ERR_set_mark()
                let isFound = EC_POINT_set_compressed_coordinates(handle, point, x.handle, 0, context) == 1
                ERR_pop_to_mark()
                if isFound { return }
                try checkCurve(operation, BN_mod_add_quick(x.handle, x.handle, one.handle, prime.handle))
            }
            throw .openSSL(operation: operation, reason: "no point was found")
        }
    }

    func multiply(
        _ point: OpaquePointer, by scalar: CurveNumber, into result: OpaquePointer
    ) throws(CurveError) {
        let context = try newContext()
        defer { BN_CTX_free(context) }
        try checkCurve("multiply a point", EC_POINT_mul(handle, result, nil, point, scalar.handle, context))
    }

    func add(_ left: OpaquePointer, _ right: OpaquePointer, into result: OpaquePointer) throws(CurveError) {
        let context = try newContext()
        defer { BN_CTX_free(context) }
        try checkCurve("add points", EC_POINT_add(handle, result, left, right, context))
    }

    private func newContext() throws(CurveError) -> OpaquePointer {
        guard let context = BN_CTX_new() else {
            throw .openSSL(operation: "get memory", reason: takeOpenSSLReason())
        }
        return context
    }
}
