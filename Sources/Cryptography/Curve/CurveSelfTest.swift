import Groundwork

/// Computes one pairing-based authentication whose result is known: vector `pub-01` of the tests.
///
/// It takes every call that the curve is used by: reading, mapping, sums, multiples, negation, numbers modulo the
/// order.
enum CurveSelfTest {
    private static let identityHash = "f93813e37b9d0de832b95762350be4d98fe3b652cf92f1b5055c943f438895e0"
    private static let timeHash = "1a9916378afc046c3785f7553079c0da66f6a9d4ef03cc0001bf0e98b9549c07"
    private static let factor: UInt16 = 9442
    private static let token =
        "04197ade7c79924cfab7885c97545ff89a751526ec1d1dfc85d68e0a3cff9cd94c"
        + "219fce24de912100b9306d811d056e184e54d4c987ed1aa7fea04496fd5f798e"
    private static let permit =
        "04053e90b8d0aef39052ea2899e399d8d09eed28871425a3b325504bb4d27e6e3f"
        + "1a0c7b481d5d8fa262775862c24c0db52dd847cee9ac7ec4c7926c06d8f2e100"
    private static let x = "22c1bbce31a2f58dabe9369614233e406f7ffdb31477982a767315dc813ec2ac"
    private static let y = "059f88131811b2d2d12325facf6dfc9e82153af93ae78cf30bbbed14f9dfd877"
    private static let commitment =
        "04213868ff73a6e002351b4ebea0e59a1c702e08286e835dce6ab1ea98f58d73c9"
        + "111645722dc382da8ec411f641d724c2d8cb06c5bc45b9bc9b7a75bead23d726"
    static let validator =
        "04095dfa21894b7ca816ad7f5965165a5079edf4865f981d4617a2976f18418d64"
        + "132d076492a7127e564437ed884810a778af3fdabe1986f435ea962c60892f1e"

    /// - Throws: ``CurveError/unavailable(reason:)`` if a result is not as expected or a call fails.
    static func run(in group: CurveGroup, expecting validator: String = validator) throws(CurveError) {
        let isRight: Bool
        do throws(CurveError) {
            let results = try compute(in: group)
            isRight = results.commitment.encoding == bytes(commitment) && results.validator.encoding == bytes(validator)
        } catch {
            throw .unavailable(reason: error.message)
        }
        guard isRight else { throw .unavailable(reason: "OpenSSL computes wrongly with it") }
    }

    private static func compute(
        in group: CurveGroup
    ) throws(CurveError) -> (commitment: G1Point, validator: G1Point) {
        let scratch = CurveScratch()
        let (x, y) = (G1Scalar(reducing: bytes(x)), G1Scalar(reducing: bytes(y)))
        let identity = try G1Point(mapping: bytes(identityHash), of: group, in: scratch)
        let dated = try identity.adding(G1Point(mapping: bytes(timeHash), of: group, in: scratch), in: scratch)
        let secret = try G1Point(encoding: bytes(token), in: group)
            .adding(G1Factor(factor), times: identity, in: scratch)
            .adding(G1Point(encoding: bytes(permit), in: group), in: scratch)
        return try (
            dated.multiplied(by: x, in: scratch), secret.multiplied(by: x.adding(y), in: scratch).negated()
        )
    }

    /// Hexadecimal of this file.
    private static func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }
}
