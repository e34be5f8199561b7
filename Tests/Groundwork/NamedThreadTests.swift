import CLinux
import Glibc
import Groundwork
import TestSupport
import Testing

@Suite("Named thread", .timeLimit(.minutes(5)))
struct NamedThreadTests {
    private static let thread = NamedThread("named-test")

    private actor Worker {
        nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThreadTests.thread.asUnownedSerialExecutor() }

        func names(around pause: Duration) async throws -> [String] {
            let before = threadName()
            try await NamedThreadTests.thread.sleep(for: pause)
            return [before, threadName()]
        }
    }

    @Test("a named thread wakes everybody who sleeps on it, and nobody early")
    func waking() async throws {
        let thread = Self.thread
        let late = try await withThrowingTaskGroup(of: Duration.self) { group in
            for tenths in [3, 1, 2] {
                group.addTask {
                    let end = SuspendingClock.now + .milliseconds(100 * tenths)
                    try await thread.sleep(for: .milliseconds(100 * tenths))
                    return .now - end
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(late.count == 3 && late.allSatisfy { $0 >= .zero })
        try await thread.sleep(for: .zero)
        try await thread.sleep(for: .seconds(-1))
    }

    @Test("a named thread lets a canceled task go, before it sleeps and while it does")
    func cancellation() async {
        let asleep = Task { try await Self.thread.sleep(for: .seconds(3600)) }
        asleep.cancel()
        await #expect(throws: CancellationError.self) { try await asleep.value }
        for _ in 0..<100 {
            let racing = Task { try await Self.thread.sleep(for: .seconds(3600)) }
            await Task.yield()
            racing.cancel()
            await #expect(throws: CancellationError.self) { try await racing.value }
        }
    }

    @Test("an actor of a named thread, and a task that prefers it, go on there after a pause")
    func staysOnThread() async throws {
        let worker = Worker()
        #expect(try await worker.names(around: .milliseconds(1)) == ["named-test", "named-test"])
        let names = try await withTaskExecutorPreference(Self.thread.tasks) {
            let before = threadName()
            try await Self.thread.sleep(for: .milliseconds(1))
            return [before, threadName()]
        }
        #expect(names == ["named-test", "named-test"])
    }

    private actor Visitor {
        let thread: NamedThread
        init(_ thread: NamedThread) { self.thread = thread }
        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        /// - Parameter end: opens when the thread ends.
        func name(noticing end: Gate? = nil) -> String {
            if let end { open(end) }
            return threadName()
        }

        private func open(_ gate: Gate) {
            var key = pthread_key_t()
            pthread_key_create(&key) { Unmanaged<Gate>.fromOpaque($0!).takeRetainedValue().open() }
            pthread_setspecific(key, Unmanaged.passRetained(gate).toOpaque())
        }
    }

    @Test("a named thread that is to end when it is idle does, and starts again with the next job")
    func ending() async throws {
        let thread = NamedThread("ending-test", endsAfter: .milliseconds(1))
        let visitor = Visitor(thread)
        for _ in 1...3 {
            let end = Gate()
            #expect(await visitor.name(noticing: end) == "ending-test")
            await end.pass()
        }
        // It does not end under somebody who sleeps on it.
        try await thread.sleep(for: .milliseconds(20))
    }

    @Test("a named thread loses no job to its own end")
    func endingAtOnce() async {
        let visitor = Visitor(NamedThread("ending-test", endsAfter: .zero))
        for _ in 1...1000 { #expect(await visitor.name() == "ending-test") }
    }
}

func threadName() -> String {
    var name = [CChar](repeating: 0, count: 16)
    _ = latchkey_thread_name(&name)
    return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}
