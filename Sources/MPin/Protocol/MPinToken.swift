public import Cryptography

/// The client's secret less its PIN's share: the only secret that stays on the device (MPIN 2.5, 2.7).
///
/// Every PIN makes some secret of it, so the device cannot know a wrong PIN from the right one.
public final class MPinToken: Sendable {
    private let point: G1Point

    /// Takes the PIN out of the sum of both trust authorities' shares.
    /// - Throws: ``CurveError``: ``CurveError/infinity`` for shares that cancel each other out.
    public init(
        shares first: G1Point, _ second: G1Point, of identity: MPinID, without factor: PINFactor
    ) throws(CurveError) {
        let secret = try first.adding(second)
        // CS + α·(−A): one sum, which takes a factor of 0 as any other.
        point = try secret.adding(factor.value, times: identity.point().negated())
    }

    /// Reads what ``encoding`` gave.
    /// - Throws: ``CurveError``
    public init(encoding: SecretBytes) throws(CurveError) {
        var bytes = encoding.exposed()
        defer { wipe(&bytes) }
        point = try G1Point(encoding: bytes)
    }

    /// 65 bytes, for the vault.
    public var encoding: SecretBytes { point.secretEncoding }

    /// The client's secret CS again, if the PIN is the right one.
    func restored(
        for identityPoint: G1Point, with factor: PINFactor, in scratch: borrowing CurveScratch = CurveScratch()
    ) throws(CurveError) -> G1Point {
        try point.adding(factor.value, times: identityPoint, in: scratch)
    }
}
