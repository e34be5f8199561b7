public import Cryptography

/// Both trust authorities' permission for one day (MPIN 2.5). In memory only.
public struct TimePermit: Sendable {
    public let date: MPinDate
    let point: G1Point

    /// - Throws: ``CurveError``: ``CurveError/infinity`` for shares that cancel each other out.
    public init(date: MPinDate, shares first: G1Point, _ second: G1Point) throws(CurveError) {
        self.date = date
        point = try first.adding(second)
    }
}

/// The second trust authority's share of a day's permit, which may be kept on disk because it is of no use alone (MPIN
/// 5.7).
public struct TimePermitShare: Sendable, Equatable {
    public let date: MPinDate
    /// `nil` for one that was part of a login that failed: it may have been the fault, and not the PIN.
    public let point: G1Point?

    public init(date: MPinDate, point: G1Point?) {
        self.date = date
        self.point = point
    }
}
