import Groundwork

extension Refusal {
    /// Explains a refusal: the gateway's number and text, and what its last three digits mean.
    var explanation: Explanation {
        let facts = meaning.facts
        let words = text ?? oauthError ?? "no reason given"
        return Explanation(
            "gateway.\(meaning.rawValue)", facts.kind,
            "cannot \(operation.phrase): \(facts.phrase) (HTTP \(status), x-ca-err \(code): \(words))",
            remedy: facts.remedy,
            meaning: facts.phrase, gateway: numbers)
    }

    /// The number in MAG 13.4 if both public clients use one, else the gateway's own.
    private var numbers: GatewayNumbers {
        let domain: GatewayNumbers.Domain = localCode != nil ? .local : operation == .call ? .targetAPI : .endpoint
        return GatewayNumbers(domain, localCode ?? code, caError: code, httpStatus: status)
    }

    /// At least one refusal for each meaning (MAG 4.5, 5.4, 6.4).
    static let examples = (RefusalNumber.suffixes + withNumberOfClients).flatMap { RefusalNumber($0).refusals }

    /// Whole numbers that the public clients turn into ones of their own (MAG 13.4), one of each.
    private static let withNumberOfClients = [3_000_201, 1_002_107, 1_001_101, 1_000_105, 3_003_101, 1_000_202]
}

extension Refusal.Meaning {
    /// The kind of refusal, its meaning in words, and what to do about it.
    var facts: (kind: ExplanationKind, phrase: String, remedy: String?) {
        switch self {
        case .serverError: (.refused, "the gateway failed", "try again; if it persists, look at the gateway's log")
        case .certificateInvalid: (.refused, "the gateway considers the certificate invalid", Self.renewCertificate)
        case .parametersInvalid: (.refused, "a header or parameter is missing", nil)
        case .signingRequestInvalid: (.refused, "the gateway considers the certificate request invalid", nil)
        case .deviceAlreadyRegistered:
            (
                .refused, "the device is registered already",
                "remove the device at the gateway, or take a new device identifier with latchkey reset, "
                    + "then enroll again"
            )
        case .deviceUnknown:
            (
                .refused, "the gateway does not know this device",
                "the device was removed at the gateway; to register it anew: latchkey reset, then latchkey enroll"
            )
        case .deviceNotActive:
            (.refused, "the device is not active", "ask the gateway's administrator to activate the device")
        case .notAMasterClient:
            (.refused, "the client id of the configuration is not a master client", Self.compareClient)
        case .grantInvalid: (.refused, "the grant is not valid", nil)
        case .scopeNotRegistered: (.refused, "the client has no registered scope", Self.compareClient)
        case .clientNotAuthorized: (.refused, "the client may not use this grant", Self.compareClient)
        case .grantTypeUnsupported: (.refused, "the gateway does not know this grant", Self.compareClient)
        case .enrollmentRefused:
            (
                .refused, "the enrollment URL was used before, has expired, or was never issued",
                "enrollment URLs work once and for a short time; ask the administrator for a new one"
            )
        case .serverMisconfigured: (.refused, "the gateway is not configured for this", nil)
        case .tokenLimitReached:
            (.refused, "the limit of tokens is reached", "revoke tokens of this client at the gateway")
        case .clientCredentialsInvalid: (.refused, "the client credentials are not valid", Self.compareClient)
        case .userCredentialsInvalid: (.denied, "the user name or password is wrong", nil)
        case .prefixInvalid:
            (.refused, "the prefix is wrong", "compare server.prefix of the configuration with the gateway")
        case .certificateExpired: (.refused, "the device certificate has expired", Self.renewCertificate)
        case .tokenExpired: (.refused, "the access token is no longer valid", nil)
        case .tokenScopeInsufficient:
            (.refused, "the access token lacks a scope", "request the scope that the called API demands")
        case .tokenMissing: (.refused, "there is no access token, or more than one", nil)
        case .tokenDisabled:
            (.refused, "the token or its client is disabled", "ask the gateway's administrator to enable the client")
        case .authorizationEnded:
            (
                .refused, "the login is over or was never started",
                "start the login again; it must be authorized within a short time"
            )
        case .authorizationDenied: (.denied, "the login was denied", nil)
        case .other: (.refused, "the gateway refused", nil)
        }
    }

    private static let renewCertificate = "latchkey renew; if the gateway refuses, latchkey reset and enroll again"
    private static let compareClient =
        "compare the client in the configuration with the one at the gateway, and enroll again if it changed"
}
