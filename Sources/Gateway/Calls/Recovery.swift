import HTTPClient

/// How to recover from a refusal before the request is sent again (MAG 6.4). Pure.
enum Recovery: Sendable, Equatable {
    /// After refusal …990: drops the access token and keeps the refresh token.
    case dropAccessToken
    /// After refusal …201: drops tokens and client credentials, and initializes the client again.
    case reinitializeClient
    /// After refusal …206: renews the certificate.
    case renewCertificate

    /// The maximum number of times that one request is sent.
    static let attempts = 4

    /// - Parameter isStaticClient: whether the configuration holds the client credentials; they cannot be requested
    ///   again.
    /// - Returns: `nil` when there is no way to recover.
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

/// What an answer of a called API means to the caller. Pure.
enum CallVerdict: Equatable {
    /// The API's own answer, whatever its status.
    case answer
    case recover(Recovery, Refusal)
    case fail(GatewayError)

    static func of(_ answer: CallAnswer, isStaticClient: Bool) -> CallVerdict {
        // A body that still arrives is that of a success.
        answer.response.map { of($0, isStaticClient: isStaticClient) } ?? .answer
    }

    /// Only what can be recovered from is not left to the caller: with its status, its headers and its body an answer
    /// says more than any error made of it (MAG 6.3, 6.4).
    static func of(_ response: HTTPResponse, isStaticClient: Bool) -> CallVerdict {
        if let demand = demand(of: response) { return .fail(demand) }
        guard let refusal = Refusal(response, to: .call) else { return .answer }
        if let recovery = Recovery.from(refusal, isStaticClient: isStaticClient) { return .recover(recovery, refusal) }
        return refusal.meaning == .clientCredentialsInvalid ? .fail(.refused(refusal)) : .answer
    }

    /// MAG 6.5: the body says what the API demands; location is checked first.
    static func demand(of response: HTTPResponse) -> GatewayError? {
        guard response.status == 448 || response.status == 449 else { return nil }
        let text = String(decoding: response.body.prefix(4096), as: UTF8.self).lowercased()
        if text.contains("location") { return .locationDemanded(status: response.status) }
        if text.contains("msisdn") { return .telephoneNumberDemanded(status: response.status) }
        return nil
    }
}
