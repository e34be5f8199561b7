import Groundwork

/// Why the crypto service does not do something, beside what keys and formats say.
enum CryptoError: Explained, Equatable {
    /// The settings do not let programs use what is weak.
    case legacyOff

    var explanation: Explanation {
        switch self {
        case .legacyOff:
            Explanation(
                "crypto.legacy-off", .permission, "weak algorithms are turned off",
                remedy: "set legacy = true in [crypto] of the settings",
                meaning: "a program wants to read old data with an algorithm that is weak")
        }
    }

    static let examples: [CryptoError] = [.legacyOff]
}
