import TestSupport
import Testing

@testable import Groundwork

@Suite("Broadcast", .timeLimit(.minutes(5)))
struct BroadcastTests {
    @Test("a broadcast gives every subscriber the values of all senders in the same order")
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

    /// Both want the locks of the other: that of the broadcast, and that of the subscriber's task. A deadlock shows
    /// within some dozens of rounds; each may take 100 ms where others keep the processors busy.
    @Test("a broadcast can be sent to a subscriber that is canceled at that moment")
    func canceled() async {
        let race = Race()
        defer { race.end() }
        for round in 1...200 {
            let broadcast = Broadcast<Int>()
            let stream = broadcast.subscribe()
            let task = Task { for await _ in stream {} }
            // So that it waits for a value.
            await Task.yield()
            guard await race.run({ broadcast.send(round) }, { task.cancel() }) else {
                Issue.record("a deadlock in round \(round)")
                return
            }
        }
    }

    @Test("a broadcast keeps what is sent under a lock until its sender delivers")
    func enqueued() async {
        let broadcast = Broadcast<Int>()
        let stream = broadcast.subscribe()
        broadcast.enqueue(1)
        let late = broadcast.subscribe()
        broadcast.enqueue(2)
        broadcast.finish()
        #expect(await stream.reduce(into: []) { $0.append($1) } == [1, 2])
        #expect(await late.reduce(into: []) { $0.append($1) } == [2])
    }
}
