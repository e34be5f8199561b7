public import Cryptography

/// The first pass of an authentication, and what its second pass needs (MPIN 2.8).
///
/// It holds a random x, which must serve one answer only: two with the same x reveal the secret. So it cannot be
/// copied, and ``validator(for:)`` and ``proof(at:of:)`` use it up; x and the secret are wiped then, and also if it is
/// dropped.
public struct PassOne: ~Copyable, Sendable {
    /// U, to be sent.
    public let commitment: G1Point
    /// UT, to be sent; `nil` without a time permit, which is an empty text in the request.
    public let datedCommitment: G1Point?

    private let x: G1Scalar
    /// S: the client's secret, with the permit if there is one.
    let secret: G1Point

    /// - Parameter permit: `nil` if the servers use no time permits.
    /// - Throws: ``CurveError``
    public init(
        identity: MPinID, token: MPinToken, factor: PINFactor, permit: TimePermit?
    ) throws(CurveError) {
        try self.init(identity: identity, token: token, factor: factor, permit: permit, x: .random())
    }

    /// - Parameter x: from 1 to order − 1, fresh.
    init(
        identity: MPinID, token: MPinToken, factor: PINFactor, permit: TimePermit?, x: G1Scalar
    ) throws(CurveError) {
        let scratch = CurveScratch()
        let point = try identity.point(in: scratch)
        var secret = try token.restored(for: point, with: factor, in: scratch)
        let commitment = try point.multiplied(by: x, in: scratch)
        var datedCommitment: G1Point?
        if let permit {
            secret = try secret.adding(permit.point, in: scratch)
            datedCommitment = try point.adding(identity.point(on: permit.date, in: scratch), in: scratch)
                .multiplied(by: x, in: scratch)
        }
        self.commitment = commitment
        self.datedCommitment = datedCommitment
        self.secret = secret
        self.x = x
    }

    /// The second pass: V for the server's y.
    /// - Parameter challenge: y, highest byte first; any number, which counts modulo the order. In an answer it has 32
    ///   bytes.
    /// - Throws: ``CurveError``: ``CurveError/infinity`` if x + y is 0 modulo the order.
    public consuming func validator(for challenge: [UInt8]) throws(CurveError) -> G1Point {
        try secret.multiplied(by: x.adding(G1Scalar(reducing: challenge))).negated()
    }
}
