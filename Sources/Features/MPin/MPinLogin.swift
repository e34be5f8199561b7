import AgentCore
import Cryptography
import Groundwork
import LocalAPI
import MPin
import Prompts

/// A user of an M-Pin account, as a request names one.
struct MPinUserReference: Sendable {
    let account: MPinAccount
    let name: AccountName
    let id: String

    /// For a question: `alice@example.com at door`.
    var shown: String { "\(DisplayText.clean(id)) at \(name)" }

    /// A question for a PIN, which may be corrected twice; the back end counts wrong ones for itself.
    func question(_ text: String, _ answerers: PromptQuestion.Answerers) -> PromptQuestion {
        PromptQuestion(.pin, text, answerers: answerers, attempts: 3, about: .account(userName: id))
    }
}
