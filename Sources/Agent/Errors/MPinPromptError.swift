import Groundwork

/// Why a PIN that prompts asked for cannot be used.
enum MPinPromptError: Explained, Equatable {
    /// Two PINs that should be the same are not.
    case pinsDiffer
    /// Unlocking takes a login by M-Pin, and the settings name nobody who could.
    case noUserForUnlocking(account: String, user: String)

    var explanation: Explanation {
        switch self {
        case .pinsDiffer: Explanation("mpin.pins-differ", .invalidInput, "the two PINs differ")
        case .noUserForUnlocking(let account, let user):
            Explanation(
                "mpin.no-user-for-unlocking", .configuration,
                "unlocking takes a login by M-Pin of \(DisplayText.clean(user)) at \(DisplayText.clean(account)), "
                    + "who is not registered on this board",
                remedy: "register the user (latchkey mpin), or change mpin_account and mpin_user of [lock]")
        }
    }

    static let examples: [MPinPromptError] = [.pinsDiffer, .noUserForUnlocking(account: "NAME", user: "ID")]
}
