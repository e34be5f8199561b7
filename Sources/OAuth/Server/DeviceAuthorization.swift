import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient

/// A server's answer to a device that wants a user to agree elsewhere (RFC 8628 section 3.2). Pure.
public struct DeviceAuthorization: Sendable {
    /// The longest time in which the user may agree, in seconds: a day.
    public static let lifetimeLimit: TimeInterval = 86_400
    /// The longest user code and address that are shown, in bytes.
    public static let textLimit = 2048

    public let deviceCode: SecretBytes
    /// To be shown, and entered by the user.
    public let userCode: String
    public let verificationURI: String
    /// The address with the code in it, for a QR code.
    public let completeURI: String?
    /// In seconds.
    public let lifetime: TimeInterval
    /// Between two requests, in seconds.
    public let interval: TimeInterval

    /// - Throws: `AnswerFault` for a missing member, and for an address that is not https, or plain http.
    public init(_ body: [UInt8]) throws(AnswerFault) {
        let answer = try JSONAnswer(body)
        deviceCode = SecretBytes(utf8: try answer.requiredPlainText("device_code"))
        guard let code = answer["user_code"]?.string, (1...64).contains(code.utf8.count),
            code.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { throw AnswerFault("its user_code is missing or not printable") }
        userCode = code
        // The name in the drafts before RFC 8628, which Google has kept.
        let place = answer["verification_uri"] == nil ? "verification_url" : "verification_uri"
        verificationURI = try Self.address(try answer.requiredPlainText(place), place)
        completeURI = try answer.plainText("verification_uri_complete").map { text throws(AnswerFault) in
            try Self.address(text, "verification_uri_complete")
        }
        guard let seconds = answer["expires_in"]?.seconds, seconds > 0 else {
            throw AnswerFault("its expires_in is missing")
        }
        lifetime = min(seconds, Self.lifetimeLimit)
        interval = min(max(answer["interval"]?.seconds ?? 5, 1), 300)
    }

    private static func address(_ text: String, _ name: String) throws(AnswerFault) -> String {
        guard text.utf8.count <= textLimit, text.hasPrefix("https://") || text.hasPrefix("http://") else {
            throw AnswerFault("its \(name) is not an http address")
        }
        return text
    }
}

/// When to ask the token endpoint again whether the user has agreed (RFC 8628 section 3.5). Pure.
public struct DevicePolling: Sendable, Equatable {
    /// Between two requests, in seconds.
    public private(set) var interval: TimeInterval
    /// For failures of the network: the interval doubles until the server answers again.
    private var pause: TimeInterval

    public init(interval: TimeInterval) { (self.interval, pause) = (interval, interval) }

    /// What a refusal means for the next request.
    public enum Step: Equatable, Sendable {
        /// After this many seconds.
        case wait(TimeInterval)
        /// The code is no longer valid.
        case expired
        /// The user, or the server, did not agree.
        case denied
        /// Another refusal, which ends the login.
        case refused
    }

    /// - Parameter code: of the refusal; `nil` if there was no answer of the server.
    public mutating func next(after code: OAuthRefusal.Code?) -> Step {
        switch code {
        case .authorizationPending: pause = interval
        case .slowDown:
            interval += 5
            pause = interval
        case .expiredToken: return .expired
        case .accessDenied: return .denied
        case .temporarilyUnavailable, .serverError, nil: pause = min(pause * 2, 300)
        default: return .refused
        }
        return .wait(pause)
    }
}
