import Groundwork

/// A question: its text, who may answer it, and how.
public struct PromptQuestion: Sendable, Equatable {
    public enum Kind: String, AnswerValue, CaseIterable {
        case password
        case pin
        case oneTimePassword = "one-time-password"
        /// A question whose answer only one person knows, such as the name of a first school.
        case knowledgeQuestion = "knowledge-question"
        case consent
        case lockPasscode = "lock-passcode"
        /// The vault's passcode.
        case vaultPasscode = "vault-passcode"
        /// One that is to be the vault's from now on.
        case newVaultPasscode = "new-vault-passcode"
        case choice
        /// Who logs in, and by what.
        case logIn = "log-in"

        /// The form of an answer.
        public enum Form: String, Sendable {
            case text
            case choice
            /// Yes; no is a refusal.
            case consent
            /// A user name and a password, or an authorization code.
            case logIn
        }

        public var form: Form {
            switch self {
            case .password, .pin, .oneTimePassword, .knowledgeQuestion, .lockPasscode, .vaultPasscode,
                .newVaultPasscode:
                .text
            case .choice: .choice
            case .consent: .consent
            case .logIn: .logIn
            }
        }
    }

    /// Who may answer.
    public enum Answerers: Sendable, Equatable {
        /// All users who may operate the local API.
        case operators
        /// The same users, or a person at the board's button.
        case operatorsAndButton
        /// Only one user of this machine who may operate the local API, and no one else, not even an owner.
        case user(uid: UInt32)

        var name: String {
            switch self {
            case .operators: "operators"
            case .operatorsAndButton: "operators-and-button"
            case .user: "user"
            }
        }

        var uid: UInt32? { if case .user(let uid) = self { uid } else { nil } }
    }

    /// Data that a display may show in addition to the text.
    public enum Subject: Sendable, Equatable {
        /// A device that asks to be authorized: its name is its own unverified claim, `way` is how its request came
        /// (`ble` or `qr`), and `user` is the user whose session it would get.
        case device(name: String?, address: String?, way: String, user: String?)
        /// The user who logs in.
        case account(userName: String)

        var members: [String: JSON] {
            func text(_ value: String?) -> JSON { value.map { .string(DisplayText.clean($0)) } ?? .null }
            return switch self {
            case .device(let name, let address, let way, let user):
                ["name": text(name), "address": text(address), "way": .string(way), "user": text(user)]
            case .account(let userName): ["user": text(userName)]
            }
        }
    }

    /// The maximum length of a text in Unicode scalars; the text may come from a server.
    public static let textLimit = 256

    public let kind: Kind
    /// One line for people.
    public let text: String
    public let answerers: Answerers
    /// The number of attempts; at least 1. Not used for consent.
    public let attempts: Int
    /// The choices, in this order; empty except for ``Kind/choice``.
    public let choices: [String]
    public let subject: Subject?

    public init(
        _ kind: Kind, _ text: String, answerers: Answerers = .operators, attempts: Int = 1,
        choices: [String] = [], about subject: Subject? = nil
    ) {
        self.kind = kind
        self.text = DisplayText.oneLine(text, limit: Self.textLimit)
        self.answerers = answerers
        self.attempts = max(attempts, 1)
        self.choices = choices
        self.subject = subject
    }

    /// Whether the answer must not be shown on a screen: texts, passwords and codes are secret, consent and choices are
    /// not.
    public var isSecret: Bool { [.text, .logIn].contains(kind.form) }
}
