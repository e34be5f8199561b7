import Foundation
import Synchronization
import Testing

@testable import Groundwork

@Suite("Broadcast", .timeLimit(.minutes(1)))
struct BroadcastTests {
    @Test("gives every subscriber the values of all senders in the same order")
    func order() async {
        let broadcast = Broadcast<Int>()
        let streams = (0..<3).map { _ in broadcast.subscribe(bound: 10_000) }
        await withTaskGroup(of: Void.self) { group in
            for sender in 0..<4 {
                group.addTask { for number in 0..<1000 { broadcast.send(sender * 1000 + number) } }
            }
        }
        broadcast.finish()
        var received: [[Int]] = []
        for stream in streams { received.append(await stream.reduce(into: []) { $0.append($1) }) }
        #expect(received[0].sorted() == Array(0..<4000))
        #expect(received[1] == received[0] && received[2] == received[0])
        for sender in 0..<4 {
            let own = received[0].filter { $0 / 1000 == sender }
            #expect(own == own.sorted())
        }
        #expect(await broadcast.subscribe().reduce(0) { count, _ in count + 1 } == 0)
    }

    /// Both want the locks of the other: that of the broadcast, and that of the subscriber's task. On threads of their
    /// own, so that a deadlock shows as a missing answer and does not take the threads of the tests.
    @Test("can send to a subscriber that is canceled at that moment")
    func canceled() async {
        let rounds = 20_000
        let race = Race()
        for role in [0, 1] {
            Thread.detachNewThread {
                for round in 1...rounds {
                    guard let (broadcast, task) = race.begin(round) else { return }
                    if role == 0 { broadcast.send(round) } else { task.cancel() }
                    race.end(round)
                }
            }
        }
        var ended = 0
        for round in 1...rounds {
            let broadcast = Broadcast<Int>()
            let stream = broadcast.subscribe()
            let task = Task { for await _ in stream {} }
            // So that it waits for a value.
            await Task.yield()
            guard await race.run(broadcast, task, round) else { break }
            ended += 1
        }
        race.giveUp()
        #expect(ended == rounds)
    }

    /// Lets two threads begin at the same moment, again and again.
    private final class Race: Sendable {
        private let runners = Mutex<(Broadcast<Int>, Task<Void, Never>)?>(nil)
        private let started = Atomic(0)
        private let finished = Atomic(0)

        /// Polls, as a thread that had to be woken would come too late.
        func begin(_ round: Int) -> (Broadcast<Int>, Task<Void, Never>)? {
            while started.load(ordering: .acquiring) < round { sched_yield() }
            return runners.withLock { $0 }
        }

        func end(_ round: Int) { finished.add(1, ordering: .releasing) }

        /// - Returns: whether both came to an end.
        func run(_ broadcast: Broadcast<Int>, _ task: Task<Void, Never>, _ round: Int) async -> Bool {
            runners.withLock { $0 = (broadcast, task) }
            started.store(round, ordering: .releasing)
            let patience = ContinuousClock.now + .seconds(10)
            while finished.load(ordering: .acquiring) < 2 * round {
                guard ContinuousClock.now < patience else { return false }
                await Task.yield()
            }
            return true
        }

        func giveUp() {
            runners.withLock { $0 = nil }
            started.store(.max, ordering: .releasing)
        }
    }
}
