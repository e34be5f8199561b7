import HTTPClient

/// What to put right after a refusal before the request is sent again (MAG 6.4). Pure.
enum Recovery: Sendable, Equatable {
    /// …990: the access token goes, the refresh token stays.
    case dropAccessToken
    /// …201: tokens and client credentials go, and the client is initialized anew.
    case reinitializeClient
    /// …206: the certificate is renewed.
    case renewCertificate

    /// How often one request is sent at most.
    static let attempts = 4

    /// - Parameter isStaticClient: whether the configuration holds the client credentials; they cannot be had anew.
    /// - Returns: `nil` when nothing can be put right.
    static func from(_ refusal: Refusal, isStaticClient: Bool) -> Recovery? {
        switch (refusal.suffix, refusal.operation) {
        case (990, .call): .dropAccessToken
        case (201, .call), (201, .initializeClient), (201, .registerDevice), (201, .obtainToken),
            (201, .beginAuthorization):
            isStaticClient ? nil : .reinitializeClient
        case (206, .call), (206, .initializeClient), (206, .registerDevice), (206, .obtainToken),
            (206, .beginAuthorization):
            .renewCertificate
        default: nil
        }
    }
}

/// What an answer of a called API is to its caller. Pure.
enum CallVerdict: Equatable {
    /// The API's own answer, whatever its status.
    case answer
    case recover(Recovery, Refusal)
    case fail(GatewayError)

    /// Refusals that are about this client, this device or its token, not about what was asked of the API.
    private static let failing: Set<Refusal.Meaning> = [
        .deviceUnknown, .deviceNotActive, .clientCredentialsInvalid, .userCredentialsInvalid, .certificateExpired,
        .tokenExpired, .tokenScopeInsufficient, .tokenMissing, .tokenDisabled,
    ]

    static func of(_ response: HTTPResponse, isStaticClient: Bool) -> CallVerdict {
        if response.status == 448 || response.status == 449 { return demand(response) }
        guard let refusal = Refusal(response, to: .call) else { return .answer }
        if let recovery = Recovery.from(refusal, isStaticClient: isStaticClient) { return .recover(recovery, refusal) }
        return failing.contains(refusal.meaning) ? .fail(.refused(refusal)) : .answer
    }

    /// MAG 6.5: the body says what is demanded; location is looked at first.
    private static func demand(_ response: HTTPResponse) -> CallVerdict {
        let text = String(decoding: response.body.prefix(4096), as: UTF8.self).lowercased()
        if text.contains("location") { return .fail(.locationDemanded(status: response.status)) }
        if text.contains("msisdn") { return .fail(.telephoneNumberDemanded(status: response.status)) }
        return .answer
    }
}
