public import Cryptography

/// An authentication without a server's challenge: the clock and an optional message make it (MPIN 2.9).
///
/// No request of the mobile protocol carries it.
public struct OnePass: Sendable {
    public let commitment: G1Point
    public let datedCommitment: G1Point?
    /// y, as the server computes it again from the commitment, the time and the message.
    public let challenge: [UInt8]
    public let validator: G1Point
    /// Unix time in seconds.
    public let time: Int32
    public let message: [UInt8]
}

extension PassOne {
    /// - Parameters:
    ///   - time: Unix time in seconds; 0 and less are not hashed (MPIN 2.3).
    ///   - message: what is signed with it; servers that use the reference library take at most 256 bytes.
    /// - Throws: ``CurveError``
    public consuming func proof(at time: Int32, of message: [UInt8] = []) throws(CurveError) -> OnePass {
        let (commitment, datedCommitment) = (commitment, datedCommitment)
        let digest = MPinHash.hash((datedCommitment ?? commitment).encoding + message, after: time)
        let challenge = G1Scalar(reducing: digest).bytes
        return OnePass(
            commitment: commitment, datedCommitment: datedCommitment, challenge: challenge,
            validator: try validator(for: challenge), time: time, message: message)
    }
}
