import Groundwork
import Synchronization
import Testing

@Suite("Operations in single flight", .timeLimit(.minutes(5)))
struct SingleFlightTests {
    private final class Trace: Sendable {
        private let list = Mutex<[Int]>([])
        var entries: [Int] { list.withLock { $0 } }
        func add(_ entry: Int) { list.withLock { $0.append(entry) } }
    }

    /// Opens once for all who wait.
    private actor Gate {
        private var isOpen = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func open() {
            isOpen = true
            for continuation in waiting { continuation.resume() }
            waiting = []
        }

        func pass() async {
            if !isOpen { await withCheckedContinuation { waiting.append($0) } }
        }
    }

    @Test("a single flight runs once for all who ask for the same, and all get its outcome")
    func shared() async throws {
        let flights = SingleFlight<String>()
        let runs = Trace()
        let gate = Gate()
        struct Refused: Error {}
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    do {
                        try await flights.join("a") { _ in
                            runs.add(1)
                            await gate.pass()
                            throw Refused()
                        }
                        return false
                    } catch {
                        return error is Refused
                    }
                }
            }
            // Not before all have joined: a second run would be counted otherwise only by luck.
            while flights.waiting("a") < 10, !Task.isCancelled { await Task.yield() }
            await gate.open()
            for await refused in group { #expect(refused) }
        }
        #expect(runs.entries == [1])
    }

    @Test("single flights run one at a time, in the order asked for")
    func ordered() async throws {
        let flights = SingleFlight<Int>()
        let trace = Trace()
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<5 {
                group.addTask {
                    try await flights.join(number) { _ in
                        await gate.pass()
                        trace.add(number)
                    }
                }
                while flights.waiting(number) == 0, !Task.isCancelled { await Task.yield() }
            }
            await gate.open()
            try await group.waitForAll()
        }
        #expect(trace.entries == [0, 1, 2, 3, 4])
    }

    @Test("a single flight is canceled with the last caller who waits, and not before")
    func cancelled() async throws {
        let flights = SingleFlight<String>()
        let cancellations = Trace()
        let gate = Gate()
        let callers = (0..<2).map { _ in
            Task {
                try await flights.join("a") { _ in
                    try await withTaskCancellationHandler {
                        await gate.pass()
                        try Task.checkCancellation()
                    } onCancel: {
                        cancellations.add(1)
                        Task { await gate.open() }
                    }
                }
            }
        }
        while flights.waiting("a") < 2, !Task.isCancelled { await Task.yield() }
        callers[0].cancel()
        await #expect(throws: CancellationError.self) { try await callers[0].value }
        #expect(cancellations.entries.isEmpty)
        callers[1].cancel()
        await #expect(throws: CancellationError.self) { try await callers[1].value }
        #expect(cancellations.entries == [1])
        // What comes after is not held up.
        try await flights.join("a") { _ in }
    }

    @Test("a closed single flight has ended its operations when closing returns, and refuses others")
    func closed() async throws {
        let flights = SingleFlight<String>()
        let (trace, gate, held) = (Trace(), Gate(), Gate())
        let running = Task {
            try await flights.join("a") { _ in
                await held.open()
                await gate.pass()
                trace.add(Task.isCancelled ? 1 : 0)
            }
        }
        await held.pass()
        let queued = Task { try await flights.join("b") { _ in trace.add(2) } }
        while flights.waiting("b") == 0, !Task.isCancelled { await Task.yield() }
        let closing = Task {
            await flights.close()
            trace.add(3)
        }
        // It takes nothing new once the queued one is refused; only then may the running one end.
        while !flights.isClosed, !Task.isCancelled { await Task.yield() }
        await gate.open()
        await closing.value
        try await running.value
        await #expect(throws: CancellationError.self) { try await queued.value }
        await #expect(throws: CancellationError.self) { try await flights.join("c") { _ in trace.add(4) } }
        #expect(trace.entries == [1, 3])
    }
}
