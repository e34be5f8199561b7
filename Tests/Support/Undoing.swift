/// Runs `body`, then the steps that it has noted, the last one first and even if it has failed: they take away what it
/// has made.
package func undoing(_ body: (inout [() async -> Void]) async throws -> Void) async throws {
    var undo: [() async -> Void] = []
    var failure: (any Error)?
    do { try await body(&undo) } catch { failure = error }
    for step in undo.reversed() { await step() }
    if let failure { throw failure }
}
