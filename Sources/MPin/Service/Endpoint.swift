/// What a request is for, which decides what its HTTP status means (MPIN 8). Pure.
enum Endpoint: CaseIterable {
    case serviceDetails
    case clientSettings
    case registration
    case clientSecretOne
    case clientSecretTwo
    case timePermitOne
    case timePermitTwo
    case passOne
    case passTwo
    case verdict
    case codeStatus
    case logOut

    /// The error of an answer's status.
    ///
    /// - Parameter place: for messages.
    /// - Returns: `nil` for 200, which alone is success (MPIN 5.1).
    func failure(status: Int, at place: String) -> MPinError? {
        guard status != 200 else { return nil }
        return refusal(status, place) ?? Self.failure(status, place)
    }

    /// What the status means at this endpoint alone.
    private func refusal(_ status: Int, _ place: String) -> MPinError? {
        switch (self, status) {
        case (.registration, 403), (.verdict, 403): .identityNotAuthorized(place: place, status: status)
        case (.clientSecretOne, 400), (.clientSecretOne, 401): .identityNotVerified(place: place, status: status)
        case (.clientSecretTwo, 408), (.verdict, 408): .requestExpired(place: place, status: status)
        case (.timePermitOne, 401), (.timePermitOne, 403), (.timePermitOne, 410), (.timePermitTwo, 410):
            .revoked(place: place, status: status)
        case (.verdict, 401): .incorrectPIN(place: place, status: status)
        case (.verdict, 409): .clientSecretExpired(place: place, status: status)
        case (.verdict, 410): .blocked(place: place, status: status)
        case (.verdict, 412): .accessNumberUnknown(place: place, status: status)
        default: nil
        }
    }

    /// What the status means everywhere else.
    private static func failure(_ status: Int, _ place: String) -> MPinError {
        switch status {
        case ..<300: .answerInvalid(place: place, reason: "its status is \(status)")
        case 300..<400: .redirected(place: place, status: status)
        case 406: .badUserAgent(place: place)
        case 400..<500: .requestRefused(place: place, status: status)
        default: .serverFailed(place: place, status: status)
        }
    }
}
