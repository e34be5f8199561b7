public import Groundwork

/// Why a call ended that demanded another factor, such as a one-time password (MAG 6.6, 13.4).
public enum MultiFactorError: Error, Equatable, Sendable {
    /// The API demands a one-time password, and no user may be asked for it.
    ///
    /// - Parameter hasChoice: whether there is a choice of how it is sent.
    case notAsked(hasChoice: Bool)
    /// No attempt is left.
    case wrong
    /// It was not answered in time.
    case notProvided
    case expired
    /// Too many passwords were asked for; `until` is in ISO 8601, if the gateway said it.
    case limitExceeded(until: String?)
    /// The gateway takes no password of this user for a while.
    case barred(until: String?)
    case channelCancelled(by: String)
    case passwordCancelled(by: String)
    /// The gateway did not send a password.
    case notDelivered(status: Int, caError: Int?, reason: String)
    /// A handler gave up, because a person or a program wanted it.
    case cancelled
    /// A handler has answered with what cannot be sent.
    case headersInvalid(reason: String)
}

extension MultiFactorError: Explained {
    public var explanation: Explanation {
        switch self {
        case .notAsked(let hasChoice):
            Explanation(
                "otp.not-asked", .refused, "the called API demands a one-time password, and no user is asked for it",
                remedy: "call it at a terminal with latchkey call, or set ask_seconds in [otp] of latchkey.toml",
                gateway: .local(hasChoice ? 160_101 : 160_102))
        case .wrong:
            Explanation(
                "otp.wrong", .denied, "the one-time password was wrong, and no attempt is left",
                remedy: "call again, for another one", gateway: .local(160_103))
        case .notProvided:
            Explanation(
                "otp.not-provided", .denied, "the one-time password was not given in time",
                remedy: "call again, and answer at the terminal or with latchkey prompts", gateway: .local(160_104))
        case .expired:
            Explanation(
                "otp.expired", .denied, "the one-time password was too old, and no new one was requested",
                remedy: "call again, for another one", gateway: .local(160_105))
        case .limitExceeded(let until):
            Explanation(
                "otp.limit-exceeded", .temporary,
                "too many one-time passwords were requested or tried" + Self.again(until), remedy: Self.wait,
                gateway: .local(160_106))
        case .barred(let until):
            Explanation(
                "otp.barred", .temporary,
                "the gateway accepts no one-time password from this user for a while" + Self.again(until),
                remedy: Self.wait, meaning: "too many one-time passwords of this user were wrong",
                gateway: .local(160_107))
        case .channelCancelled(let by):
            Explanation(
                "otp.channel-cancelled", .denied, "no way to send the one-time password was chosen (\(by))",
                gateway: .local(160_201))
        case .passwordCancelled(let by):
            Explanation(
                "otp.cancelled", .denied, "the one-time password was not given (\(by))", gateway: .local(160_202))
        case .notDelivered(let status, let caError, let reason):
            Explanation(
                "otp.not-delivered", .refused,
                "the gateway sent no one-time password (HTTP \(status)\(caError.map { ", x-ca-err \($0)" } ?? ""): "
                    + "\(reason))",
                remedy: "try again, by another channel if there is one; if it persists, look at the gateway's log",
                gateway: caError.map { GatewayNumbers(.endpoint, $0, caError: $0, httpStatus: status) }
                    ?? .local(100_407, httpStatus: status))
        case .cancelled:
            Explanation(
                "multi-factor.cancelled", .denied, "a further factor that the called API demands was not given",
                gateway: .local(180_002))
        case .headersInvalid(let reason):
            Explanation(
                "multi-factor.headers-invalid", .internal,
                "the answer to what the called API demands cannot be sent: \(reason)", gateway: .local(180_003))
        }
    }

    private static let wait = "wait until then; the gateway is not asked again before"

    private static func again(_ until: String?) -> String { until.map { "; again at \($0)" } ?? "" }

    public static let examples: [MultiFactorError] = [
        .notAsked(hasChoice: true), .notAsked(hasChoice: false), .wrong, .notProvided, .expired,
        .limitExceeded(until: "TIME"), .barred(until: "TIME"), .channelCancelled(by: "user NAME"),
        .passwordCancelled(by: "user NAME"), .notDelivered(status: 400, caError: 8_000_400, reason: "REASON"),
        .notDelivered(status: 500, caError: 8_000_500, reason: "REASON"),
        .notDelivered(status: 200, caError: nil, reason: "REASON"), .cancelled, .headersInvalid(reason: "REASON"),
    ]
}
