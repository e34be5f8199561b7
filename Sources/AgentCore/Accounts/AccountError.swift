import Groundwork

/// Why an account cannot be used, made or removed.
package enum AccountError: Explained, Equatable {
    /// The text is not an account name.
    case nameInvalid
    /// The board has no account of that name.
    case unknown(AccountName)
    /// The board has reached its limit of accounts.
    case tooMany(limit: Int)
    /// Another account is at the same gateway.
    case sameGateway(url: String, account: AccountName)
    /// The account is registered at its server, so it cannot be removed.
    case registered(AccountName)
    /// Commands mean the account where they name none, so it cannot be removed.
    case current(AccountName)
    /// There is an account of that name already.
    case exists(AccountName)
    /// What was asked for is of another kind of account.
    case otherKind(AccountName, kind: String)

    package var explanation: Explanation {
        switch self {
        case .nameInvalid:
            Explanation(
                "account.name-invalid", .invalidInput, "this is not a valid account name",
                remedy: "use 1 to \(AccountName.limit) lower-case letters, digits and hyphens, no hyphen first")
        case .unknown(let name):
            Explanation(
                "account.unknown", .notFound, "this board has no account \(name)",
                remedy: "list them: latchkey accounts list; or make this one: latchkey enroll --account \(name) -")
        case .tooMany(let limit):
            Explanation(
                "account.too-many", .conflict, "this board already has \(limit) accounts, the maximum",
                remedy: "remove one: latchkey accounts remove NAME")
        case .sameGateway(let url, let account):
            Explanation(
                "account.same-gateway", .conflict, "the account \(account) is already at \(url)",
                remedy: "use that account, or enroll this one at another gateway")
        case .registered(let name):
            Explanation(
                "account.registered", .conflict, "the account \(name) is registered at its gateway",
                remedy: "first remove the board there: latchkey deregister --account \(name); "
                    + "or forget its registration here only: latchkey reset --account \(name)")
        case .current(let name):
            Explanation(
                "account.current", .conflict, "the account \(name) is the one that commands use without --account",
                remedy: "first choose another one: latchkey accounts use gateway")
        case .exists(let name):
            Explanation(
                "account.exists", .conflict, "this board already has an account \(name)",
                remedy: "use another name, or remove it: latchkey accounts remove \(name)")
        case .otherKind(let name, let kind):
            Explanation(
                "account.other-kind", .conflict,
                "the account \(name) is of kind \(kind), which does not support this",
                remedy: "see its details: latchkey accounts show \(name)")
        }
    }

    package static let examples: [AccountError] = [
        .nameInvalid, .unknown(.gateway), .tooMany(limit: AccountRegistry.limit),
        .sameGateway(url: "URL", account: .gateway), .registered(.gateway),
        .current(.gateway), .exists(.gateway), .otherKind(.gateway, kind: "KIND"),
    ]
}
