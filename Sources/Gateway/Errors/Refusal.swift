import HTTPClient
import OAuth

/// An explicit refusal by the gateway: an unsuccessful answer with an `x-ca-err` number (MAG 0.4).
///
/// An answer without that number may come from a proxy, a load balancer or a captive portal instead of the gateway.
public struct Refusal: Sendable, Equatable {
    public let operation: GatewayOperation
    /// HTTP status.
    public let status: Int
    /// The whole `x-ca-err` number: the interface, then three digits for the problem.
    public let code: Int
    /// `error` of the body (RFC 6749 section 5.2).
    public let oauthError: String?
    /// `error_description` of the body, on one line and at most `RefusalWords.limit` characters.
    public let text: String?

    public init(operation: GatewayOperation, status: Int, code: Int, oauthError: String? = nil, text: String? = nil) {
        self.operation = operation
        self.status = status
        self.code = code
        self.oauthError = oauthError
        self.text = text
    }

    /// `nil` when the response is a success or has no number of the gateway's own. A 405 never has one, whatever its
    /// header says (MAG 0.4).
    init?(_ response: HTTPResponse, to operation: GatewayOperation) {
        guard !response.isSuccess, response.status != 405,
            let code = Self.number(response.headers.first("x-ca-err"))
        else { return nil }
        let words = RefusalWords(response.body)
        self.init(operation: operation, status: response.status, code: code, oauthError: words.error, text: words.text)
    }

    /// The last three digits, which decide what to do (MAG 6.4).
    public var suffix: Int { code % 1000 }

    /// The number if the text is one to nine digits (MAG quirk Q21).
    static func number(_ text: String?) -> Int? {
        guard let text, (1...9).contains(text.utf8.count),
            text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        else { return nil }
        return Int(text)
    }
}

extension Refusal {
    /// The meaning of a refusal according to its last three digits (MAG 6.4).
    public enum Meaning: String, Sendable, CaseIterable {
        case serverError = "server-error"
        case certificateInvalid = "certificate-invalid"
        case parametersInvalid = "parameters-invalid"
        case signingRequestInvalid = "signing-request-invalid"
        case deviceAlreadyRegistered = "device-already-registered"
        case deviceUnknown = "device-unknown"
        case deviceNotActive = "device-not-active"
        case notAMasterClient = "not-a-master-client"
        case grantInvalid = "grant-invalid"
        case scopeNotRegistered = "scope-not-registered"
        case clientNotAuthorized = "client-not-authorized"
        case grantTypeUnsupported = "grant-type-unsupported"
        case enrollmentRefused = "enrollment-refused"
        case serverMisconfigured = "server-misconfigured"
        case tokenLimitReached = "token-limit-reached"
        case clientCredentialsInvalid = "client-credentials-invalid"
        case userCredentialsInvalid = "user-credentials-invalid"
        case prefixInvalid = "prefix-invalid"
        case certificateExpired = "certificate-expired"
        case tokenExpired = "token-expired"
        case tokenScopeInsufficient = "token-scope-insufficient"
        case tokenMissing = "token-missing"
        case tokenDisabled = "token-disabled"
        case authorizationEnded = "authorization-ended"
        case authorizationDenied = "authorization-denied"
        case other = "refused"
    }

    public var meaning: Meaning {
        switch suffix {
        case 000: .serverError
        // At the registration interface, 101 and 102 are about a certificate; elsewhere 101 is an unknown device.
        case 101 where code / 1000 == 1000, 102: .certificateInvalid
        case 101, 107: .deviceUnknown
        case 103: .parametersInvalid
        case 104: .signingRequestInvalid
        case 105: .deviceAlreadyRegistered
        case 108: .deviceNotActive
        case 109: .notAMasterClient
        case 110: .authorizationEnded
        case 113: .grantInvalid
        case 115: .scopeNotRegistered
        case 117: .clientNotAuthorized
        case 119: .grantTypeUnsupported
        case 123, 124: .authorizationDenied
        case 132 where operation == .fetchConfiguration: .enrollmentRefused
        case 132: .serverMisconfigured
        case 135: .tokenLimitReached
        case 201: .clientCredentialsInvalid
        case 202, 302: .userCredentialsInvalid
        case 203: .prefixInvalid
        case 206: .certificateExpired
        case 990: .tokenExpired
        case 991: .tokenScopeInsufficient
        case 992: .tokenMissing
        case 993: .tokenDisabled
        default: .other
        }
    }

    /// The client error code in MAG 13.4, if both public clients use the same.
    var localCode: Int? {
        switch (code, suffix) {
        case (3_000_201, _): 110_002
        case (1_002_107, _): 110_004
        case (1_001_101, _), (1_001_103, _), (1_001_107, _): 120_003
        case (1_000_105, _), (1_007_105, _): 120_001
        case (3_003_101, _), (3_003_107, _): 120_006
        case (8_000_143, _): 160_105
        case (8_000_144, _): 160_106
        case (8_000_145, _): 160_107
        case (1_000_202, _), (3_001_202, _), (3_003_202, _), (3_003_302, _): 130_002
        case (_, 992): 130_201
        case (_, 993): 130_202
        case (_, 991): 130_203
        default: nil
        }
    }
}
