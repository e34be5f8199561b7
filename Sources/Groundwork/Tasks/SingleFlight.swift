import Synchronization

/// Single flight with a queue: runs operations one at a time, in the order of the calls, and only once for all callers
/// that need the same one.
///
/// A canceled caller stops waiting; the operation is canceled with its last caller. An operation that joined another
/// would deadlock, so give the code inside it no `SingleFlight`, only its ``Operation``.
public final class SingleFlight<Key: Hashable & Sendable>: Sendable {
    /// Proof that the code that borrows it runs inside an operation: no other operation of the same `SingleFlight` runs
    /// until that code has returned.
    ///
    /// Only ``join(_:_:)`` creates one. It is borrowed, and can be neither copied nor stored, so it cannot outlive its
    /// operation. A function that must run inside an operation takes it as a parameter; a call from anywhere else does
    /// not compile. The proof for one type of key is not accepted for another.
    public struct Operation: ~Copyable, Sendable {
        fileprivate init() {}
    }

    /// The work of an operation, which gets the proof that it runs inside one.
    public typealias Work = @Sendable (borrowing Operation) async throws -> Void

    private struct Flight {
        let id: Int
        let task: Task<Void, Never>
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
    }

    private struct State {
        var lastNumber = 0
        var flights: [Key: Flight] = [:]
        /// Ends when all current operations have ended.
        var tail: Task<Void, Never>?
        var isClosed = false

        mutating func number() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private let state = Mutex(State())

    public init() {}

    /// Waits for the running or queued operation for `key`, else runs `work` after all others.
    ///
    /// - Throws: what the operation threw, the same for all its callers; `CancellationError` for a canceled caller, and
    ///   for all after ``close()``.
    public func join(_ key: Key, _ work: @escaping Work) async throws {
        let ticket = state.withLock { $0.number() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(key, ticket, continuation, work)
            }
        } onCancel: {
            leave(key, ticket)
        }
    }

    /// Cancels the operations, and returns when all have ended. No other runs afterwards.
    public func close() async {
        let (tasks, tail) = state.withLock { state in
            state.isClosed = true
            return (state.flights.values.map(\.task), state.tail)
        }
        for task in tasks { task.cancel() }
        await tail?.value
    }

    /// Whether ``close()`` was called.
    public var isClosed: Bool { state.withLock { $0.isClosed } }

    /// How many callers wait for an operation now, so that a test can wait for them.
    public func waiting(_ key: Key) -> Int { state.withLock { $0.flights[key]?.waiting.count ?? 0 } }

    private func enter(
        _ key: Key, _ ticket: Int, _ continuation: CheckedContinuation<Void, any Error>,
        _ work: @escaping Work
    ) {
        let isLate = state.withLock { state in
            // Checked inside the lock: `leave` either runs later and finds the ticket, or has run and this is true.
            if Task.isCancelled || state.isClosed { return true }
            if state.flights[key] == nil { state.flights[key] = start(key, work, &state) }
            state.flights[key]?.waiting[ticket] = continuation
            return false
        }
        if isLate { continuation.resume(throwing: CancellationError()) }
    }

    private func start(_ key: Key, _ work: @escaping Work, _ state: inout State) -> Flight {
        let id = state.number()
        let predecessor = state.tail
        let task = Task {
            await predecessor?.value
            let result: Result<Void, any Error>
            do {
                try Task.checkCancellation()
                result = .success(try await work(Operation()))
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
        let (continuation, abandoned) = state.withLock {
            state -> (CheckedContinuation<Void, any Error>?, Task<Void, Never>?) in
            guard let continuation = state.flights[key]?.waiting.removeValue(forKey: ticket) else { return (nil, nil) }
            guard let flight = state.flights[key], flight.waiting.isEmpty else { return (continuation, nil) }
            state.flights[key] = nil
            return (continuation, flight.task)
        }
        // Outside of the lock: the operation's cancellation handlers run here.
        abandoned?.cancel()
        continuation?.resume(throwing: CancellationError())
    }
}
