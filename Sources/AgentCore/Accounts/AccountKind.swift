import Cryptography
import Groundwork
import LocalAPI
import Prompts

/// A kind of account: named relations of this board to servers of one sort.
///
/// What its accounts can do is said by its abilities; a route that needs one which a kind does not have answers with
/// ``AccountError/otherKind(_:kind:)``.
package protocol AccountKind: Sendable {
    /// For programs, and in the vault: `gateway`.
    var name: String { get }

    func names() async throws -> [AccountName]

    /// Those that the settings have: they take no room from others.
    var presets: Set<AccountName> { get }

    /// The state of an account, or why it cannot be used, beside what every account has.
    func report(_ name: AccountName) async throws -> [String: JSON]

    /// Removes an account with all its stored records.
    ///
    /// - Parameters:
    ///   - force: even if its server does not answer, where that matters.
    ///   - endGrants: ends what programs may do there; called once nothing but a fault keeps the account from going.
    func remove(_ name: AccountName, force: Bool, endGrants: @Sendable () async throws -> Void) async throws

    var users: (any AccountUsers)? { get }
    var browsers: (any AccountBrowsers)? { get }
    var tokens: (any AccountTokens)? { get }
    var calls: (any AccountCalls)? { get }
}

extension AccountKind {
    package var presets: Set<AccountName> { [] }
    package var users: (any AccountUsers)? { nil }
    package var browsers: (any AccountBrowsers)? { nil }
    package var tokens: (any AccountTokens)? { nil }
    package var calls: (any AccountCalls)? { nil }
}

/// People log in at accounts of this kind, with a name and a secret.
package protocol AccountUsers: Sendable {
    /// Who is logged in.
    func user(at name: AccountName) async throws -> JSON

    /// What the server says about the user who is logged in.
    func profile(at name: AccountName) async throws -> JSON

    /// How a person is asked for the secret, once that is known to be of use.
    ///
    /// - Throws: why a secret could not be used now.
    func question(for userName: String, at name: AccountName, answerers: PromptQuestion.Answerers) async throws
        -> PromptQuestion

    /// - Parameters:
    ///   - secret: a password, or a PIN.
    ///   - scope: another than the account's; `nil` if the request has none.
    func logIn(_ userName: String, _ secret: SecretBytes, scope: String?, at name: AccountName) async throws -> JSON

    /// What to say of a secret that was refused, if another may be tried; `nil` for every other error.
    func faultOfSecret(_ error: any Error) -> String?

    /// - Parameters:
    ///   - force: here also when the server does not answer; `nil` if the request does not say.
    ///   - allPrograms: whether the sessions of all programs of this device end; `nil` if the request does not say.
    func logOut(force: Bool?, allPrograms: Bool?, at name: AccountName) async throws -> JSON
}

/// People log in at accounts of this kind with a browser.
package protocol AccountBrowsers: Sendable {
    func begin(_ body: RequestBody, at name: AccountName) async throws -> JSON
    func end(_ id: String, _ body: RequestBody, at name: AccountName) async throws -> JSON
    func cancel(_ id: String, at name: AccountName) async throws
}

/// Accounts of this kind have access tokens.
package protocol AccountTokens: Sendable {
    /// - Parameters:
    ///   - principal: whose, where the request says so.
    ///   - refreshing: whether a new one is wanted, though the old one may be valid.
    func token(
        of principal: String?, scope: String?, refreshing: Bool, at name: AccountName, for request: LocalRequest
    ) async throws -> LocalResponse

    /// The board's token for a login of the agent itself, such as at a broker.
    ///
    /// - Parameter lasting: how long it is to be valid; one that is valid for less is replaced, and taken if the server
    ///   gives none that is valid for longer.
    func ownToken(scope: String?, lasting: Duration, at name: AccountName) async throws -> OwnToken
}

/// An access token for a login of the agent itself.
package struct OwnToken: Sendable {
    package let value: SecretBytes
    /// `nil` if the server does not say.
    package let lifeLeft: Duration?

    package init(value: SecretBytes, lifeLeft: Duration?) { (self.value, self.lifeLeft) = (value, lifeLeft) }
}

/// APIs are called with the tokens of accounts of this kind.
package protocol AccountCalls: Sendable {
    func answer(_ asked: CallRequest, at name: AccountName, for request: LocalRequest) async throws -> LocalResponse

    /// The same with bodies in pieces.
    func stream(_ asked: CallRequest, at name: AccountName, for request: LocalRequest) async throws -> LocalResponse
}
