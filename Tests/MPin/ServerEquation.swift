import Cryptography

@testable import MPin

/// The server's equation in the group of the client, for whoever knows the master secret: V + s·(C + y·B) is infinity
/// (MPIN 4.2).
struct ServerEquation {
    /// s, the sum of both trust authorities' secrets.
    let secret: G1Scalar
    /// B: the identity point, with the dated one if there is a permit.
    let base: G1Point

    init(secret: G1Scalar, of identity: MPinID, on date: MPinDate?) throws {
        self.secret = secret
        let point = try identity.point()
        base = try date.map { try point.adding(identity.point(on: $0)) } ?? point
    }

    func accepts(_ validator: G1Point, for challenge: [UInt8], of commitment: G1Point) throws -> Bool {
        let sum = try commitment.adding(G1Scalar(reducing: challenge), times: base)
        return try validator == sum.multiplied(by: secret).negated()
    }
}
