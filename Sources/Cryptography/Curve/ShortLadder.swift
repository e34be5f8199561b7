import COpenSSL

/// A secret integer of 14 bits to multiply a point by, in a time that does not depend on it; wiped with the last
/// reference.
public final class G1Factor: Sendable {
    /// f < 2^b.
    static let bits = 14
    /// f + 2^(b − 1), which is never 0.
    let raised: CurveNumber

    /// - Parameter value: below 2^14, or the program ends.
    public init(_ value: UInt16) {
        precondition(value < 1 << Self.bits, "a factor has \(Self.bits) bits")
        raised = CurveNumber((1 << (Self.bits - 1)) + UInt64(value))
    }
}

/// Multiplies points by a ``G1Factor`` with the ladder that OpenSSL multiplies by all scalars with, in 15 steps instead
/// of 254.
///
/// OpenSSL's ladder (`ossl_ec_scalar_mul_ladder`, the same in OpenSSL 3.0 and 3.5) takes its number of steps from the
/// group's order: for a scalar below the order, it computes scalar + order or scalar + 2 · order, the one that is a
/// bit longer than the order, and relies on order · P being infinity. So this group has the points of ``CurveGroup``
/// and says that its order is 3 · 2^(b − 1), which has b + 1 bits. The scalar is f + 2^(b − 1), below that order.
/// With it
/// - scalar + order is f + 2^(b + 1), which is a bit longer than the order whatever f is,
/// - so that the ladder takes it and computes (f + 2^(b + 1)) · P, in b + 1 steps.
///
/// What is too much is 2^(b + 1) · P, which is public if P is. The true order is a prime of 254 bits, so no multiple on
/// the way is infinity. The self-test of ``CurveGroup`` computes by this ladder: an OpenSSL that did otherwise would be
/// found out.
struct ShortLadder: Sendable {
    /// Made on first use.
    static let shared: Result<ShortLadder, CurveError> = Result { () throws(CurveError) in try ShortLadder() }

    private let group: CurveGroup

    private init() throws(CurveError) { group = try CurveGroup(order: CurveNumber(3 << (G1Factor.bits - 1))) }

    /// f · P as two points to be added, neither one infinity, also if f is 0.
    /// - Parameters:
    ///   - point: P, which must be public.
    ///   - product: becomes (f + 2^(b + 1)) · P.
    ///   - excess: becomes −2^(b + 1) · P.
    func multiply(
        _ point: OpaquePointer, by factor: G1Factor, into product: OpaquePointer, and excess: OpaquePointer,
        in scratch: borrowing CurveScratch
    ) throws(CurveError) {
        try checkCurve("copy a point", EC_POINT_copy(excess, point))
        try group.double(excess, times: G1Factor.bits + 1, in: scratch)
        try group.negate(excess)
        try group.multiply(point, by: factor.raised, into: product, in: scratch)
    }
}
