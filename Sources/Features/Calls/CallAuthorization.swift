import AgentCore
import AgentGateway
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI

/// What a program does by a decision, which may be taken back meanwhile.
package final class CallAuthorization: Sendable {
    package let program: LocalProgram
    /// At the gateway that the decision is about: the account may be at another one meanwhile.
    package let link: Link
    /// With the principal in whose name; `nil` for what serves a program that needs no grant and does not say.
    package let use: GrantUse
    /// Whether a person allowed only this.
    package let isOnce: Bool
    /// When the user logged in whom a person was asked about: it is for no other. `nil` for the current user.
    package let loggedInAt: Date?
    private enum Outcome { case revoked, over }
    private let outcome = AsyncCondition<Outcome?>(nil)

    package init(
        _ program: LocalProgram, _ use: GrantUse, at link: Link, isOnce: Bool = false, loggedInAt date: Date? = nil
    ) {
        (self.program, self.use, self.link, self.isOnce, loggedInAt) = (program, use, link, isOnce, date)
    }

    package var principal: Principal? { use.principal }

    package func revoke() { outcome.change { if $0 == nil { $0 = .revoked } } }

    /// Does the work, unless the permission is taken back meanwhile.
    ///
    /// - Throws: ``GrantError/revoked``, ``GrantError/accountChanged(account:)``, what the work throws
    package func run<Value: Sendable>(
        of book: GrantBook, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard !link.session.isClosed else { throw GrantError.accountChanged(account: use.account.text) }
        // Nothing takes away what owners may do.
        guard !program.isOwner else { return try await work() }
        book.begin(self)
        defer { book.end(self) }
        // A change between the decision and this moment was not told to it.
        if !isOnce { guard case .allowed = book.decide(program, use) else { throw GrantError.revoked } }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask { [outcome] in
                let outcome = await withTaskCancellationHandler {
                    await outcome.wait { $0 }
                } onCancel: {
                    outcome.change { if $0 == nil { $0 = .over } }
                }
                if outcome == .revoked { throw GrantError.revoked }
                return nil
            }
            defer { group.cancelAll() }
            while let value = try await group.next() { if let value { return value } }
            throw CancellationError()
        }
    }
}
