import Groundwork
import OAuth
import Synchronization

/// Identifies an operation; callers with equal keys share one run.
enum OperationKey: Hashable, Sendable {
    case prepare(Need)
    case recover(Recovery, Principal, revision: Int)
    case renew, deregister, reset, revoke, initialize
    /// Never shared: two people may log in one after the other.
    case logIn(Int)
    case name(Int)
    case logOut(force: Bool, allPrograms: Bool)
    case lock(Int)
    case unlock(Int)
    case removeLock, revokeLeftOver
}

/// Proof that the caller runs inside an operation of a session and may change its state; no other operation of that
/// session runs meanwhile. Functions that change the state take this as a parameter `in operation`.
typealias Operation = SingleFlight<OperationKey>.Operation

/// Runs the operations of a session, one at a time, and repeats work after refusals.
///
/// The ``GatewayParts``, which work inside operations, do not know this type, so they cannot wait for an operation
/// inside an operation, which would deadlock.
final class Operations: Sendable {
    let parts: GatewayParts
    private let flights = SingleFlight<OperationKey>()
    private let lastNumber = Atomic(0)

    init(_ parts: GatewayParts) { self.parts = parts }

    /// A unique number for an operation that is not shared.
    func nextNumber() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

    /// Cancels the operations, and returns when all have ended. No other runs afterwards.
    func close() async { await flights.close() }

    var isClosed: Bool { flights.isClosed }

    /// Waits for an existing operation with that key, else runs `work` after all others.
    ///
    /// - Throws: what `work` threw, the same for all callers that wait for it; `CancellationError` for a canceled
    ///   caller.
    func run(
        _ key: OperationKey,
        _ work: @escaping @Sendable (_ parts: GatewayParts, _ operation: borrowing Operation) async throws -> Void
    ) async throws {
        let parts = parts
        try await flights.join(key) { operation in try await work(parts, operation) }
    }

    // MARK: Preparing

    /// Obtains what a need lacks, again after refusals, and remembers a failure for the status.
    ///
    /// - Returns: a state with the token: in a later one, another caller may have dropped it after a refusal.
    @discardableResult
    func ready(for need: Need) async throws -> HoldingsStore.State {
        // Without a request there is nothing to remember.
        if let state = try await parts.preparation.state(readyFor: need) { return state }
        return try await parts.exchange.contacts.noting(by: parts.store.clocks) {
            try await recovering(as: need.principal) { try await self.prepare(for: need) }
        }
    }

    /// How often what a need lacks is obtained, while others' refusals drop it each time.
    private static let rounds = 16

    /// Obtains what a need lacks; all callers with that need share one operation.
    ///
    /// - Returns: as ``ready(for:)``, unless the token is dropped each time that it is there.
    /// - Throws: ``RefusedAttempt`` after it has recovered from a refusal.
    func prepare(for need: Need) async throws -> HoldingsStore.State {
        for _ in 1...Self.rounds {
            if let state = try await parts.preparation.state(readyFor: need) { return state }
            try await run(.prepare(need)) { try await $0.preparation.prepare(for: need, in: $1) }
            let state = try await parts.store.state()
            if state.holdings[need.principal].access != nil { return state }
        }
        return try await parts.store.state()
    }

    // MARK: After refusals

    /// Repeats work until it is not refused, and recovers from the refusals in between: at most ``Recovery/attempts``
    /// attempts in all. No other code repeats work after a refusal.
    ///
    /// - Parameter principal: the owner of the access token that a refusal is about.
    /// - Throws: ``GatewayError/refused(_:)`` with the last refusal, or what `work` throws, except ``RefusedAttempt``.
    func recovering<Value: Sendable>(
        as principal: Principal, _ work: @Sendable () async throws -> Value
    ) async throws -> Value {
        var attempt = 1
        while true {
            do {
                return try await work()
            } catch let refused as RefusedAttempt {
                guard attempt < Recovery.attempts else { throw GatewayError.refused(refused.refusal) }
                if let revision = refused.revision {
                    try await handle(refused.refusal, of: principal, since: revision)
                }
                attempt += 1
            }
        }
    }

    /// - Throws: the refusal, if there is no way to recover.
    private func handle(_ refusal: Refusal, of principal: Principal, since revision: Int) async throws {
        switch try await parts.store.holdings().next(after: refusal) {
        case .fail: throw GatewayError.refused(refusal)
        case .repeatWork: break
        case .recover(let recovery): try await recover(recovery, of: principal, since: revision)
        }
    }

    /// Recovers, unless another caller has done so since that revision.
    func recover(_ recovery: Recovery, of principal: Principal, since revision: Int) async throws {
        try await run(.recover(recovery, principal, revision: revision)) { parts, operation in
            guard try await parts.store.state().revision == revision else { return }
            try await parts.preparation.recover(recovery, of: principal, in: operation)
        }
    }
}

/// A refusal after which ``Operations/recovering(as:_:)`` tries again.
struct RefusedAttempt: Error {
    let refusal: Refusal
    /// The revision of the refused state; `nil` if the same operation has already recovered.
    var revision: Int?
}
