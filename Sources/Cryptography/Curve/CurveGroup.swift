import COpenSSL
import Groundwork

/// BN254CX's group G1 in OpenSSL's hands: the points of y² = x³ + 2 over the integers modulo ``prime`` (MPIN 2.1).
///
/// The number of its points is the prime ``order``, so its cofactor is 1: every point on the curve but infinity has
/// that order, and no test of a subgroup is needed.
///
/// ## What OpenSSL promises about time
/// It knows this curve by its parameters only, so the general code computes (Montgomery multiplication of any prime).
/// - `EC_POINT_mul` of one point takes the Montgomery ladder, because order and cofactor are set: it adds the order
///   once or twice, so that every scalar has the same number of steps, swaps without branches, marks the scalar
///   `BN_FLG_CONSTTIME`, and starts from randomized projective coordinates. This is what protects x and x + y.
/// - The PIN's factor takes the same ladder over fewer steps: see ``ShortLadder``.
/// - `BN_mod_add_quick` of two reduced numbers has no branch that depends on them.
/// - `EC_POINT_add`, `EC_POINT_invert`, `EC_POINT_point2oct`, `BN_nnmod` and the search for a point of a hash are not
///   of constant time. The last two only get what servers know. Additions do get secret points; what leaks is whether a
///   coordinate happens to be short, or that a point is infinity.
/// - Multiplication normalizes a number's length after each step, which a coordinate with a leading zero word shows;
///   the ladder's random coordinates make that useless for repeated measuring.
///
/// OpenSSL keeps intermediates in a `BN_CTX`, which wipes its numbers when it is freed: see ``CurveScratch``.
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

    /// An `EC_GROUP`.
    ///
    /// `nonisolated(unsafe)` is correct because nothing changes it after `init`: every function takes it as `const`,
    /// and then threads may share it (openssl-threads(7)).
    nonisolated(unsafe) let handle: OpaquePointer
    /// A `BN_MONT_CTX` of the prime.
    ///
    /// `nonisolated(unsafe)` is correct because only `BN_MONT_CTX_set` writes to it, in `init`.
    private nonisolated(unsafe) let montgomery: OpaquePointer
    /// (p + 1) / 4.
    private let rootExponent = CurveNumber(
        hex: "09000000021c0a836c2f77d91e98d9b4c90ff5bb86024fb86f9988fbd706d56d", isSecret: false)
    private let two = CurveNumber(2)

    private convenience init() throws(CurveError) { try self.init(order: CurveNumber(hex: Self.order)) }

    /// - Parameter order: what the ladder adds to a scalar, whose bits are its steps.
    init(order: CurveNumber) throws(CurveError) {
        let (zero, one) = (CurveNumber(0), CurveNumber(1))
        let (prime, x) = (CurveNumber(hex: Self.prime), CurveNumber(hex: Self.generatorX))
        guard let group = EC_GROUP_new_curve_GFp(prime.handle, zero.handle, two.handle, nil),
            let montgomery = BN_MONT_CTX_new()
        else { throw .unavailable(reason: takeOpenSSLReason()) }
        (handle, self.montgomery) = (group, montgomery)
        let scratch = CurveScratch()
        let generator = try newPoint()
        defer { EC_POINT_clear_free(generator) }
        // Order and cofactor are what has `EC_POINT_mul` take the ladder.
        let isSet = withExtendedLifetime((zero, one, prime, x, order)) {
            BN_MONT_CTX_set(montgomery, prime.handle, scratch.handle) == 1
                && EC_POINT_set_affine_coordinates(group, generator, x.handle, one.handle, nil) == 1
                && EC_GROUP_set_generator(group, generator, order.handle, one.handle) == 1
        }
        guard isSet else { throw .unavailable(reason: takeOpenSSLReason()) }
    }

    deinit {
        BN_MONT_CTX_free(montgomery)
        EC_GROUP_free(handle)
    }

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
    /// `EC_POINT_set_compressed_coordinates` would do, but prepares its exponentiation anew for each X, and half of all
    /// X have no point.
    func map(_ hash: [UInt8], to point: OpaquePointer, in scratch: borrowing CurveScratch) throws(CurveError) {
        let operation = "map a hash to a point"
        let context = scratch.handle
        BN_CTX_start(context)
        defer { BN_CTX_end(context) }
        guard let prime = EC_GROUP_get0_field(handle), let x = BN_CTX_get(context), let form = BN_CTX_get(context),
            let square = BN_CTX_get(context), let y = BN_CTX_get(context), let again = BN_CTX_get(context),
            BN_bin2bn(hash, Int32(hash.count), x) != nil
        else { throw .openSSL(operation: "get memory", reason: takeOpenSSLReason()) }
        try checkCurve(operation, BN_nnmod(x, x, prime, context))
        // The end is never reached: the chance that 256 X in a row have no point is 1 in 2^256.
        for _ in 0..<256 {
            // The square is x³ + 2, and ((p + 1) / 4)th powers of squares are their roots, as p is 3 modulo 4. A
            // product with a number in Montgomery's form is in the form of the other one.
            let isComputed =
                BN_to_montgomery(form, x, montgomery, context) == 1
                && BN_mod_mul_montgomery(square, x, form, montgomery, context) == 1
                && BN_mod_mul_montgomery(square, square, form, montgomery, context) == 1
                && BN_mod_add_quick(square, square, two.handle, prime) == 1
                && BN_mod_exp_mont(y, square, rootExponent.handle, prime, context, montgomery) == 1
                && BN_to_montgomery(form, y, montgomery, context) == 1
                && BN_mod_mul_montgomery(again, y, form, montgomery, context) == 1
            try checkCurve(operation, isComputed ? 1 : 0)
            if BN_cmp(again, square) == 0 {
                if BN_is_odd(y) == 1 { try checkCurve(operation, BN_sub(y, prime, y)) }
                return try checkCurve(operation, EC_POINT_set_affine_coordinates(handle, point, x, y, context))
            }
            try checkCurve(operation, BN_mod_add_quick(x, x, BN_value_one(), prime))
        }
        throw .openSSL(operation: operation, reason: "no point was found")
    }

    func multiply(
        _ point: OpaquePointer, by scalar: CurveNumber, into result: OpaquePointer, in scratch: borrowing CurveScratch
    ) throws(CurveError) {
        try checkCurve("multiply a point", EC_POINT_mul(handle, result, nil, point, scalar.handle, scratch.handle))
    }

    func add(
        _ left: OpaquePointer, _ right: OpaquePointer, into result: OpaquePointer, in scratch: borrowing CurveScratch
    ) throws(CurveError) {
        try checkCurve("add points", EC_POINT_add(handle, result, left, right, scratch.handle))
    }

    /// Doubles a point some times, in its place.
    func double(_ point: OpaquePointer, times count: Int, in scratch: borrowing CurveScratch) throws(CurveError) {
        for _ in 0..<count {
            try checkCurve("double a point", EC_POINT_dbl(handle, point, point, scratch.handle))
        }
    }

    func negate(_ point: OpaquePointer) throws(CurveError) {
        try checkCurve("negate a point", EC_POINT_invert(handle, point, nil))
    }
}
