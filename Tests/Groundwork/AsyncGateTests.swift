import Groundwork
import Testing

@Suite("Async gate", .timeLimit(.minutes(5)))
struct AsyncGateTests {
    private func waiting(_ count: Int, at gate: AsyncGate) async {
        while gate.waiting < count, !Task.isCancelled { await Task.yield() }
    }

    @Test("an async gate lets all through who wait when it is opened, and who come while it is open")
    func open() async throws {
        let gate = AsyncGate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { try await gate.pass() } }
            await waiting(3, at: gate)
            gate.open()
            try await group.waitForAll()
        }
        try await gate.pass()
        #expect(gate.waiting == 0)
    }

    @Test("an async gate that is closed at once after it was opened lets those through who waited, and nobody else")
    func reopened() async throws {
        let gate = AsyncGate()
        let first = Task { try await gate.pass() }
        await waiting(1, at: gate)
        gate.open()
        gate.close()
        try await first.value
        let second = Task { try await gate.pass() }
        await waiting(1, at: gate)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
    }

    @Test("a canceled task no longer waits at an async gate, and the others do")
    func cancellation() async throws {
        let gate = AsyncGate()
        let tasks = (0..<2).map { _ in Task { try await gate.pass() } }
        await waiting(2, at: gate)
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        #expect(gate.waiting == 1)
        gate.open()
        try await tasks[1].value
    }

    @Test("a task that was canceled before passes an open async gate, and does not wait at a closed one")
    func alreadyCanceled() async throws {
        let gate = AsyncGate()
        let begun = AsyncGate()
        let task = Task {
            // Suspended until it is canceled.
            try? await begun.pass()
            await #expect(throws: CancellationError.self) { try await gate.pass() }
            gate.open()
            try await gate.pass()
        }
        task.cancel()
        try await task.value
    }
}
