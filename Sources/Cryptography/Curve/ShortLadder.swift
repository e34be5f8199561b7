import COpenSSL

/// A secret integer of 14 bits to multiply a point by, in a time that does not depend on it; wiped with the last
/// reference.
public final class G1Factor: Sendable {
    /// f < 2^b.
    static let bits = 14
    /// f + 2^b: always of b + 1 bits.
    let raised: CurveNumber

    /// - Parameter value: below 2^14, or the program ends.
    public init(_ value: UInt16) {
        precondition(value < 1 << Self.bits, "a factor has \(Self.bits) bits")
        raised = CurveNumber((1 << Self.bits) + UInt64(value))
    }
}

/// Multiplies points by a ``G1Factor`` with the ladder that OpenSSL multiplies by all scalars with, in 16 steps instead
/// of 254.
///
/// OpenSSL's ladder (`ossl_ec_scalar_mul_ladder`, the same in OpenSSL 3.0 and 3.5) takes its number of steps from the
/// group's order: for a scalar below the order, it computes scalar + order or scalar + 2 · order, the one that is a
/// bit longer than the order, and relies on order · P being infinity. So this group has the points of ``CurveGroup`` and
/// says that its order is 2 · 2^b. The scalar is f + 2^b, which is never 0 and below that order, and with it
/// - scalar + order is f + 3 · 2^b, which is as long as the order whatever f is,
/// - so that the ladder takes scalar + 2 · order and computes (f + 5 · 2^b) · P, in b + 2 steps.
///
/// What is too much is 5 · 2^b · P, which is public if P is. The true order is a prime of 254 bits, so no multiple on
/// the way is infinity. The self-test of ``CurveGroup`` computes by this ladder: an OpenSSL that did otherwise would be
/// found out.
struct ShortLadder: Sendable {
    /// Made on first use.
    static let shared: Result<ShortLadder, CurveError> = Result { () throws(CurveError) in try ShortLadder() }

    private let group: CurveGroup

    private init() throws(CurveError) { group = try CurveGroup(order: CurveNumber(2 << G1Factor.bits)) }

    /// f · P as two points to be added, of which neither is infinity, also if f is 0.
    /// - Parameters:
    ///   - point: P, which must be public.
    ///   - product: becomes (f + 5 · 2^b) · P.
    ///   - excess: becomes −5 · 2^b · P.
    func multiply(
        _ point: OpaquePointer, by factor: G1Factor, into product: OpaquePointer, and excess: OpaquePointer
    ) throws(CurveError) {
        // Four times and once.
        try copy(point, to: product)
        try group.double(product, times: G1Factor.bits)
        try copy(product, to: excess)
        try group.double(excess, times: 2)
        try group.add(excess, product, into: excess)
        try group.negate(excess)
        try group.multiply(point, by: factor.raised, into: product)
    }

    private func copy(_ point: OpaquePointer, to other: OpaquePointer) throws(CurveError) {
        try checkCurve("copy a point", EC_POINT_copy(other, point))
    }
}
