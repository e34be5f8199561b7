/// A bounded number of tests at work at a time, in the order in which they came: dozens of boards and gateways that
/// start at once would only wait for each other.
package actor Places {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// - Parameter count: how many may be at work, at least 1.
    package init(_ count: Int) { free = count }

    /// Runs `body` once a place is free.
    package nonisolated func run<Value>(_ body: () async throws -> Value) async throws -> Value {
        await take()
        do {
            let value = try await body()
            await leave()
            return value
        } catch {
            await leave()
            throw error
        }
    }

    private func take() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// The place goes to the caller that has waited longest.
    private func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
