/// Suspends the caller until the continuation is resumed; the caller continues on its actor's thread.
///
/// - Parameters:
///   - body: passes the continuation to the code that resumes it.
///   - onCancel: called when the task is canceled, on any thread and maybe before `body`. It must ensure that the
///     continuation is resumed.
public func withCancellableContinuation<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ body: (CheckedContinuation<Value, Never>) -> Void,
    onCancel: @Sendable () -> Void
) async -> Value {
    await withTaskCancellationHandler {
        // Passed on explicitly: otherwise the closure would leave the caller's thread.
        await withCheckedContinuation(isolation: isolation, body)
    } onCancel: {
        onCancel()
    }
}
