import Groundwork

/// Why a computation with points of BN254CX failed. No case contains a coordinate or a scalar.
public enum CurveError: Explained, Equatable {
    /// The bytes are not the encoding of a point: 65 bytes, `04`, coordinates below the prime, on the curve.
    case notAPoint(reason: String)
    /// The result is the point at infinity, which has no encoding here.
    case infinity
    /// This machine's OpenSSL does not take the curve, or computes wrongly with it.
    case unavailable(reason: String)
    /// A call to OpenSSL failed; `reason` is OpenSSL's text.
    case openSSL(operation: String, reason: String)
}

extension CurveError {
    public var explanation: Explanation {
        switch self {
        case .notAPoint(let reason):
            Explanation(
                "curve.not-a-point", .invalidAnswer, "cannot read a point of BN254CX: \(reason)",
                meaning: "a share, a permit or a token is not a point of the curve that M-Pin computes with")
        case .infinity:
            Explanation(
                "curve.infinity", .invalidAnswer, "a computation on BN254CX ended at the point at infinity",
                meaning: "shares that cancel each other out, which honest servers issue with a chance of 1 in 2^254")
        case .unavailable(let reason):
            Explanation(
                "curve.unavailable", .unavailable, "cannot compute on BN254CX: \(reason)",
                remedy: "use an OpenSSL that accepts curves by their parameters; some hardened builds do not")
        case .openSSL(let operation, let reason):
            Explanation(
                "curve.openssl", .internal, "OpenSSL cannot \(operation): \(reason)",
                meaning: "OpenSSL failed at something that should work")
        }
    }

    public static let examples: [CurveError] = [
        .notAPoint(reason: "REASON"), .infinity, .unavailable(reason: "REASON"),
        .openSSL(operation: "OPERATION", reason: "REASON"),
    ]
}

/// Checks a call that returns 1 for success.
/// - Parameter operation: completes the sentence "cannot …".
func checkCurve(_ operation: String, _ status: Int32) throws(CurveError) {
    guard status == 1 else { throw .openSSL(operation: operation, reason: takeOpenSSLReason()) }
}
