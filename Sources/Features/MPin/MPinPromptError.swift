import AgentCore
import Groundwork

/// Why a PIN that prompts asked for cannot be used.
enum MPinPromptError: Explained, Equatable {
    /// Two PINs that should be the same are not.
    case pinsDiffer

    var explanation: Explanation {
        switch self {
        case .pinsDiffer: Explanation("mpin.pins-differ", .invalidInput, "the two PINs differ")
        }
    }

    static let examples: [MPinPromptError] = [.pinsDiffer]
}
