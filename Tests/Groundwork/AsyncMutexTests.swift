import Groundwork
import Synchronization
import Testing

@Suite("Async mutex", .timeLimit(.minutes(5)))
struct AsyncMutexTests {
    @Test("an async mutex lets tasks through one at a time, in the order asked for")
    func turns() async {
        let mutex = AsyncMutex()
        let log = Log()
        await mutex.lock()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await mutex.lock()
                log.add(2)
                mutex.unlock()
            }
            log.add(1)
            mutex.unlock()
        }
        #expect(log.entries == [1, 2])
        await mutex.lock()
        mutex.unlock()
    }

    private final class Log: Sendable {
        private let list = Mutex<[Int]>([])
        var entries: [Int] { list.withLock { $0 } }
        func add(_ entry: Int) { list.withLock { $0.append(entry) } }
    }
}
