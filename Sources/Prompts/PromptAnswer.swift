public import Cryptography
import Groundwork

/// An answer to a prompt. A text is wiped with the last reference to it.
public enum PromptAnswer: Sendable, Equatable {
    /// The maximum length of a text, in bytes.
    public static let textLimit = 1024

    case text(SecretBytes)
    /// One of the question's choices.
    case choice(String)
    /// Consent was given.
    case grant
    /// A user name and a password to log in with.
    case credentials(userName: String, password: SecretBytes)
    /// An authorization code to log in with, as a program obtained it.
    case code(SecretBytes, verifier: SecretBytes?, redirectURI: String?)

    var form: PromptQuestion.Kind.Form {
        switch self {
        case .text: .text
        case .choice: .choice
        case .grant: .consent
        case .credentials, .code: .logIn
        }
    }
}

/// Who answered, and how.
public enum Answerer: Sendable, Hashable, CustomStringConvertible {
    case button
    /// A person at a terminal or a web page, with the name of the machine's user.
    case user(String)
    /// A program that answers by itself, such as a PIN pad.
    case program(String)
    /// A setting that gives one answer to every question.
    case policy
    /// The agent itself, when the question is no longer needed.
    case agent

    public var description: String {
        switch self {
        case .button: "button"
        case .user(let name): "user \(DisplayText.clean(name))"
        case .program(let name): "program \(DisplayText.clean(name))"
        case .policy: "policy"
        case .agent: "agent"
        }
    }
}

/// The outcome of asking once. There is exactly one each time that a question is asked.
public enum PromptOutcome: Sendable, Equatable {
    case answered(PromptAnswer, by: Answerer)
    case refused(by: Answerer)
    /// There was no answer in time.
    case expired
    /// The asker has left, or no longer needs an answer.
    case withdrawn
}
