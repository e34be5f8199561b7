import CLinux
import Groundwork
import Testing

@Suite("Backoff, broadcast and named threads")
struct FlowTests {
    @Test("a backoff doubles to its cap, never beyond, and starts again after a success")
    func backoff() {
        var backoff = Backoff(initial: .seconds(1), cap: .seconds(5), leastShare: 1)
        #expect((0..<4).map { _ in backoff.next() } == [.seconds(1), .seconds(2), .seconds(4), .seconds(5)])
        backoff.reset()
        #expect(backoff.next() == .seconds(1))
    }

    @Test("chance shortens a backoff by no more than the stated share")
    func jitter() {
        let delays = (0..<200).map { _ in
            var backoff = Backoff(initial: .seconds(8), leastShare: 0.5)
            return backoff.next()
        }
        #expect(delays.allSatisfy { $0 >= .seconds(4) && $0 <= .seconds(8) })
        #expect(Set(delays).count > 1)
    }

    @Test("a broadcast's subscriber that lags loses its own oldest values only")
    func broadcast() async {
        let broadcast = Broadcast<Int>()
        let (fast, slow) = (broadcast.subscribe(), broadcast.subscribe(bound: 2))
        for value in 1...4 { broadcast.send(value) }
        broadcast.finish()
        var received: [[Int]] = []
        for stream in [fast, slow] { received.append(await stream.reduce(into: []) { $0.append($1) }) }
        #expect(received == [[1, 2, 3, 4], [3, 4]])
        #expect(await broadcast.subscribe().first { _ in true } == nil)
    }

    @Test("an actor runs on its named thread, one job after the other")
    func namedThread() async {
        let counter = Counter(thread: NamedThread("flow-test"))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { await counter.increment() } }
        }
        #expect(await counter.value == 100)
        #expect(await counter.threadNames == ["flow-test"])
    }
}

private actor Counter {
    private let thread: NamedThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
    private(set) var value = 0
    private(set) var threadNames: Set<String> = []

    init(thread: NamedThread) { self.thread = thread }

    func increment() {
        value += 1
        var name = [CChar](repeating: 0, count: 16)
        _ = latchkey_thread_name(&name)
        threadNames.insert(name.withUnsafeBytes { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
}
