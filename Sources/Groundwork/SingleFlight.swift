import Synchronization

/// Single flight with a queue: runs operations one at a time, in the order asked for, and once for all callers who
/// ask for the same one.
///
/// A caller who is cancelled leaves; the operation is cancelled with the last of its callers. An operation must not ask for
/// another: it would wait for itself.
public final class SingleFlight<Key: Hashable & Sendable>: Sendable {
    private struct Flight {
        let id: Int
        let task: Task<Void, Never>
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    }

    private struct State {
        var lastNumber = 0
        var flights: [Key: Flight] = [:]
        /// Ends when all operations asked for so far have ended.
        var tail: Task<Void, Never>?

        mutating func number() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Mutex(State())

    public init() {}

    /// Waits for the operation named `key` if one is under way or waiting, else for `work` after all others.
    ///
    /// - Throws: what the operation threw, the same for all its callers; `CancellationError` for a caller who is
    ///   cancelled.
    public func join(_ key: Key, _ work: @escaping @Sendable () async throws -> Void) async throws {
        let ticket = state.withLock { $0.number() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(key, ticket, continuation, work)
            }
        } onCancel: {
            leave(key, ticket)
        }
    }

    /// How many callers wait for an operation now: lets a test know that they have come.
    public func waiting(_ key: Key) -> Int { state.withLock { $0.flights[key]?.waiting.count ?? 0 } }

    private func enter(
        _ key: Key, _ ticket: Int, _ continuation: CheckedContinuation<Void, any Error>,
        _ work: @escaping @Sendable () async throws -> Void
    ) {
        let isLate = state.withLock { state in
            // Looked at inside the lock: `leave` either comes later and finds the ticket, or has come and this is true.
            if Task.isCancelled { return true }
            if state.flights[key] == nil { state.flights[key] = start(key, work, &state) }
            state.flights[key]?.waiting[ticket] = continuation
            return false
        }
        if isLate { continuation.resume(throwing: CancellationError()) }
    }

    private func start(_ key: Key, _ work: @escaping @Sendable () async throws -> Void, _ state: inout State) -> Flight
    {
        let id = state.number()
        let predecessor = state.tail
        let task = Task {
            await predecessor?.value
            let result: Result<Void, any Error>
            do {
                try Task.checkCancellation()
                result = .success(try await work())
            } catch {
                result = .failure(error)
            }
            land(key, id, result)
        }
        state.tail = task
        return Flight(id: id, task: task)
    }

    private func land(_ key: Key, _ id: Int, _ result: Result<Void, any Error>) {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
            guard let flight = state.flights[key], flight.id == id else { return [] }
            state.flights[key] = nil
            return Array(flight.waiting.values)
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    private func leave(_ key: Key, _ ticket: Int) {
        let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard let continuation = state.flights[key]?.waiting.removeValue(forKey: ticket) else { return nil }
            if let flight = state.flights[key], flight.waiting.isEmpty {
                flight.task.cancel()
                state.flights[key] = nil
            }
            return continuation
        }
        continuation?.resume(throwing: CancellationError())
    }
}
