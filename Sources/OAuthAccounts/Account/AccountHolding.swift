import Cryptography
import FoundationEssentials
import Groundwork
import OAuth

/// What an account holds: its tokens, and the user whose they are. One record, so that a refresh token and its
/// successor change places in one commit.
struct AccountHolding: Sendable, Equatable {
    var tokens = TokenList()
    /// `nil` if no user is logged in, or the client asks for itself.
    var user: AccountUser?
    /// The newest refresh token that the server refused, until other tokens come.
    var refusal: RefreshRefusal?

    var document: JSON {
        [
            "tokens": .array(
                tokens.entries.map { entry in
                    [
                        "value": .string(entry.access.value.exposedText()),
                        "received": .number(entry.access.receivedAt.timeIntervalSince1970),
                        "lifetime": .number(entry.access.lifetime), "scope": .string(entry.access.scope),
                        "requested": .string(entry.requested.sorted().joined(separator: " ")),
                        "refresh": entry.refresh.map { .string($0.exposedText()) } ?? .null,
                        "lost": .bool(entry.isAnswerLost),
                    ]
                }),
            "user": user.map { user in
                [
                    "name": user.name.map(JSON.string) ?? .null, "subject": user.subject.map(JSON.string) ?? .null,
                    "since": .number(user.loggedInAt.timeIntervalSince1970),
                ]
            } ?? .null,
            "refusal": refusal.map { refusal in
                [
                    "error": .string(refusal.error), "text": refusal.text.map(JSON.string) ?? .null,
                    "scope": .string(refusal.scope.sorted().joined(separator: " ")),
                    "lost": .bool(refusal.isAfterLostAnswer),
                ]
            } ?? .null,
        ]
    }

    init() {}

    /// - Throws: ``OAuthAccountError/recordInvalid(account:)``
    init(_ document: JSON, of account: String, at now: Date, uptime: Duration) throws(OAuthAccountError) {
        guard let list = document["tokens"]?.array else { throw .recordInvalid(account: account) }
        var entries: [TokenList.Entry] = []
        for element in list {
            guard let value = element["value"]?.string, let received = element["received"]?.number,
                let lifetime = element["lifetime"]?.number, let scope = element["scope"]?.string
            else { throw .recordInvalid(account: account) }
            let access = HeldToken(
                value: SecretBytes(utf8: value), lifetime: lifetime, scope: scope,
                receivedAt: Date(timeIntervalSince1970: received), at: now, uptime: uptime)
            entries.append(
                .init(
                    access: access, refresh: element["refresh"]?.string.map { SecretBytes(utf8: $0) },
                    requested: Scope.words(element["requested"]?.string),
                    isAnswerLost: element["lost"]?.bool ?? false))
        }
        tokens = TokenList(entries)
        if let since = document["user"]?["since"]?.number {
            user = AccountUser(
                name: document["user"]?["name"]?.string, subject: document["user"]?["subject"]?.string,
                loggedInAt: Date(timeIntervalSince1970: since))
        }
        if let error = document["refusal"]?["error"]?.string {
            refusal = RefreshRefusal(
                error: error, text: document["refusal"]?["text"]?.string,
                scope: Scope.words(document["refusal"]?["scope"]?.string),
                isAfterLostAnswer: document["refusal"]?["lost"]?.bool ?? false)
        }
    }
}

/// Why a token cannot be refreshed any more.
struct RefreshRefusal: Sendable, Equatable {
    /// As in `OAuthRefusal`.
    let error: String
    let text: String?
    /// Of the token.
    let scope: Set<String>
    let isAfterLostAnswer: Bool
}

/// Who is logged in at an account.
public struct AccountUser: Sendable, Equatable {
    /// As the server or the person wrote it.
    public let name: String?
    /// The server's identifier of the user (OpenID Connect Core section 2, `sub`).
    public let subject: String?
    public let loggedInAt: Date

    /// Whether both are known to be the same person.
    func isSame(as other: AccountUser?) -> Bool {
        guard let other else { return false }
        if let subject, let theirs = other.subject { return subject == theirs }
        return name != nil && name == other.name
    }
}
