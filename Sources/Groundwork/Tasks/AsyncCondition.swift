import Synchronization

/// A condition variable for code that suspends: state behind a lock, and tasks that wait until it meets their
/// condition.
///
///     let mail = AsyncCondition([Letter]())
///     mail.change { $0.append(letter) }
///     let letter = await mail.wait { $0.isEmpty ? nil : $0.removeFirst() }
///
/// A queue, a gate or a collected answer only adds a type of state, which can be tested without tasks. Cancellation
/// does not end a wait by itself; the cancellation handler has to change the state:
///
///     await withTaskCancellationHandler {
///         await state.wait { $0.isOver ? () : nil }
///     } onCancel: {
///         state.change { $0.isOver = true }
///     }
public final class AsyncCondition<State: Sendable>: Sendable {
    /// Takes the value that its task waits for from the state, if available.
    ///
    /// - Returns: a closure that resumes the task, to be called outside of the lock; `nil` if the task continues to
    ///   wait.
    private typealias Waiter = @Sendable (inout State) -> (@Sendable () -> Void)?

    private struct Guarded {
        var state: State
        var waiting: [Waiter] = []

        /// Serves the waiting tasks in the order in which they came, until no other can be served: what one takes out
        /// may be what another waits for.
        mutating func serve() -> [@Sendable () -> Void] {
            var resumptions: [@Sendable () -> Void] = []
            while let (place, resume) = firstServed() {
                waiting.remove(at: place)
                resumptions.append(resume)
            }
            return resumptions
        }

        private mutating func firstServed() -> (place: Int, resume: @Sendable () -> Void)? {
            for (place, waiter) in waiting.enumerated() {
                if let resume = waiter(&state) { return (place, resume) }
            }
            return nil
        }
    }

    private let guarded: Mutex<Guarded>

    public init(_ state: State) { guarded = Mutex(Guarded(state: state)) }

    /// Returns a value made from the state. Does not suspend.
    public func read<Result: Sendable>(_ body: (State) -> Result) -> Result {
        guarded.withLock { body($0.state) }
    }

    /// Changes the state, then resumes the tasks whose condition it now meets. Does not suspend.
    @discardableResult
    public func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        var resumptions: [@Sendable () -> Void] = []
        let result = guarded.withLock { guarded in
            let result = body(&guarded.state)
            if !guarded.waiting.isEmpty { resumptions = guarded.serve() }
            return result
        }
        for resume in resumptions { resume() }
        return result
    }

    /// Suspends the caller until `take` returns a value. The first callers are served first.
    ///
    /// Inside a closure, such as that of `withTaskCancellationHandler`, pass the actor's `isolation` explicitly to stay
    /// on its thread: a closure has it only if it captures it.
    ///
    /// - Parameter take: checks whether the state has what the caller waits for, and takes it out. It is called inside
    ///   the lock, at once and after each change, so it must be quick, and may change the state only if it returns a
    ///   value.
    public func wait<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, until take: @escaping @Sendable (inout State) -> Value?
    ) async -> Value {
        // Passed on explicitly: otherwise the continuation's body hops to the default executor.
        await withCheckedContinuation(isolation: isolation) { (continuation: CheckedContinuation<Value, Never>) in
            let resumptions = guarded.withLock { guarded in
                guarded.waiting.append { state in
                    guard let value = take(&state) else { return nil }
                    return { continuation.resume(returning: value) }
                }
                return guarded.serve()
            }
            for resume in resumptions { resume() }
        }
    }
}
