import Groundwork
import Synchronization
import Testing

@Suite("Threads and their waits", .timeLimit(.minutes(5)))
struct ThreadTests {
    private static let thread = NamedThread("wait-test")

    /// Waits for whoever has its continuation, on a thread of its own.
    private actor Waiter {
        nonisolated var unownedExecutor: UnownedSerialExecutor { ThreadTests.thread.asUnownedSerialExecutor() }
        private let held = Mutex<CheckedContinuation<String, Never>?>(nil)

        nonisolated func resume(_ value: String) -> Bool {
            let continuation = held.withLock { held in
                defer { held = nil }
                return held
            }
            continuation?.resume(returning: value)
            return continuation != nil
        }

        func wait() async -> (value: String, threads: [String]) {
            let before = threadName()
            let value = await withCancellableContinuation { continuation in
                held.withLock { $0 = continuation }
                if Task.isCancelled { _ = resume("cancelled") }
            } onCancel: {
                _ = resume("cancelled")
            }
            return (value, [before, threadName()])
        }
    }

    @Test("a thread's wait ends on the thread where it began, resumed from anywhere")
    func resumed() async {
        let waiter = Waiter()
        async let waiting = waiter.wait()
        while !waiter.resume("done"), !Task.isCancelled { await Task.yield() }
        let (value, threads) = await waiting
        #expect(value == "done")
        #expect(threads == ["wait-test", "wait-test"])
    }

    @Test("a thread's wait ends with its task, canceled before it or while it lasts")
    func cancelled() async {
        for yields in 0..<50 {
            let waiting = Task { await Waiter().wait().value }
            for _ in 0..<yields { await Task.yield() }
            waiting.cancel()
            #expect(await waiting.value == "cancelled")
        }
    }

    @Test("the calling thread is named")
    func named() async {
        let thread = NamedThread("before")
        await withTaskExecutorPreference(thread.tasks) {
            #expect(threadName() == "before")
            CurrentThread.setName("after")
            #expect(threadName() == "after")
        }
    }
}

@Suite("A library that is loaded when it is needed")
struct LoadedLibraryTests {
    private struct Calls {
        var answer: (@convention(c) () -> Int32)?
    }

    @Test("a library that is loaded when needed gives its table when it is filled")
    func filled() throws {
        let library = try LoadedLibrary(filling: Calls()) { calls in
            calls?.pointee.answer = { 42 }
            return nil
        }
        #expect(library.calls.answer?() == 42)
        #expect(library.table.pointee.answer?() == 42)
    }

    @Test("a library that cannot be loaded is named, with what is missing")
    func missing() {
        #expect(throws: LibraryMissing(name: "libnone.so.1")) {
            try "libnone.so.1".withCString { name in
                _ = try LoadedLibrary(filling: Calls()) { _ in name }
            }
        }
    }
}
