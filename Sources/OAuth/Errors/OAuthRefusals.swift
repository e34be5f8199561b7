import Groundwork
import HTTPClient

/// An error answer of a server of the OAuth family.
public struct OAuthRefusal: Sendable, Equatable {
    /// The error codes that are distinguished.
    public enum Code: String, Sendable {
        // RFC 6749 section 5.2
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case invalidScope = "invalid_scope"
        // RFC 6749 section 4.1.2.1
        case accessDenied = "access_denied"
        case serverError = "server_error"
        case temporarilyUnavailable = "temporarily_unavailable"
        // RFC 8628 section 3.5
        case authorizationPending = "authorization_pending"
        case slowDown = "slow_down"
        case expiredToken = "expired_token"
    }

    /// HTTP status.
    public let status: Int
    /// As the server wrote it, made safe to display.
    public let error: String
    /// `error_description`, on one line.
    public let text: String?

    public init(status: Int, error: String, text: String?) {
        self.status = status
        self.error = error
        self.text = text
    }

    /// Microsoft has another word for a denial of RFC 8628.
    public var code: Code? { error == "authorization_declined" ? .accessDenied : Code(rawValue: error) }
}

/// The table of RFC 6749 section 5.2 and its extensions.
public struct OAuthRefusals: RefusalTable {
    public init() {}

    public func refusal(in response: HTTPResponse) -> OAuthRefusal? {
        let words = RefusalWords(response.body)
        // Some servers, such as GitHub, refuse with status 200.
        guard !response.isSuccess || !words.isBesideGrant, let error = words.error else { return nil }
        return OAuthRefusal(status: response.status, error: error, text: words.text)
    }

    public func subject(of refusal: OAuthRefusal) -> RefusalSubject {
        switch refusal.code {
        case .invalidClient: .client
        case .serverError, .temporarilyUnavailable, .authorizationPending, .slowDown: .passing
        case .invalidRequest, .invalidGrant, .unauthorizedClient, .unsupportedGrantType, .invalidScope, .accessDenied,
            .expiredToken, nil:
            refusal.status >= 500 || refusal.status == 429 ? .passing : .grant
        }
    }
}

/// `error` and `error_description` of an answer (RFC 6749 section 5.2), each on one line and bounded.
public struct RefusalWords: Sendable, Equatable {
    /// The most Unicode scalars that are kept of each.
    public static let limit = 300
    /// The most bytes of a body that are read.
    private static let bodyLimit = 64 * 1024

    public let error: String?
    public let text: String?
    /// Whether the answer has what was asked for all the same: a token, the code of a device, or a client.
    let isBesideGrant: Bool

    /// A part is `nil` if it is missing, empty, or not text.
    public init(_ body: [UInt8]) {
        let json = try? JSON(parsing: body.prefix(Self.bodyLimit))
        error = Self.line(json?["error"]?.string)
        text = Self.line(json?["error_description"]?.string)
        isBesideGrant = ["access_token", "device_code", "client_id"].contains { json?[$0] != nil }
    }

    private static func line(_ text: String?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        return DisplayText.oneLine(text, limit: limit)
    }
}
