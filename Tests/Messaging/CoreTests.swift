import Foundation
import Testing

@testable import Messaging

@Suite("Send window")
struct SendWindowTests {
    private func message(_ id: Int64, _ topic: String = "t", _ qos: QoS = .atLeastOnce, size: Int = 1) throws
        -> QueuedMessage
    {
        QueuedMessage(
            id: id,
            message: OutgoingMessage(topic: try Topic(topic), payload: [UInt8](repeating: 0, count: size), qos: qos),
            acceptedAt: Date())
    }

    @Test("the send window lets no more messages out than its limit")
    func limit() throws {
        var window = SendWindow(limit: 2)
        window.add([try message(1), try message(2), try message(3)])
        #expect(window.ready().map(\.id) == [1, 2])
        #expect(window.ready().isEmpty)
        #expect(window.room == 0)
        window.complete(1)
        #expect(window.ready().map(\.id) == [3])
    }

    @Test("the send window lets no more bytes out than its limit, but always one message")
    func bytes() throws {
        var window = SendWindow(limit: 10)
        window.add([try message(1, size: 2 << 20), try message(2)])
        #expect(window.ready().map(\.id) == [1])
        window.complete(1)
        #expect(window.ready().map(\.id) == [2])
    }

    @Test(
        "the send window holds a message back behind its topic's others of another quality of service")
    func mixedQualities() throws {
        var window = SendWindow(limit: 10)
        window.add([
            try message(1, "a", .atMostOnce), try message(2, "b", .atLeastOnce), try message(3, "a", .atLeastOnce),
            try message(4, "c", .atLeastOnce),
        ])
        #expect(window.ready().map(\.id) == [1, 2])
        window.complete(2)
        #expect(window.ready().isEmpty)
        window.complete(1)
        #expect(window.ready().map(\.id) == [3, 4])
    }

    @Test("the send window requests more only when half of it is free")
    func batches() throws {
        var window = SendWindow(limit: 4)
        window.add([try message(1), try message(2), try message(3)])
        _ = window.ready()
        #expect(window.room == 0)
        window.complete(1)
        #expect(window.room == 2)
    }
}

@Suite("A refused connection")
struct BrokerRefusalTests {
    @Test(
        "a refused connection is named by the codes of MQTT 3.1.1, or of MQTT 5 where only that is spoken",
        arguments: [
            (1, BrokerRefusal.protocolVersion), (2, .clientID), (3, .serverUnavailable), (4, .badCredentials),
            (5, .notAuthorized),
            (0x84, .protocolVersion), (0x85, .clientID), (0x88, .serverUnavailable), (0x86, .badCredentials),
            (0x87, .notAuthorized),
            (0x9F, .other(code: 0x9F)),
        ])
    func codes(code: Int, refusal: BrokerRefusal) { #expect(BrokerRefusal(code: code) == refusal) }
}

@Suite("Keep-alive")
struct KeepAliveTests {
    private let start = ContinuousClock.now

    @Test("the keep-alive checks an idle connection once per period")
    func idle() {
        var keepAlive = KeepAlive(seconds: 60, now: start)
        #expect(keepAlive.due == start + .seconds(61))
        keepAlive.hasPassed(at: start + .seconds(61))
        keepAlive.hasRead(at: start + .seconds(61.01))
        #expect(keepAlive.due == start + .seconds(122))
        keepAlive.hasPassed(at: start + .seconds(122))
        #expect(keepAlive.due == start + .seconds(183))
    }

    @Test("the keep-alive never allows a silence of one and a half periods, whatever was read in between")
    func readsMayHaveWritten() {
        var keepAlive = KeepAlive(seconds: 60, now: start)
        keepAlive.hasRead(at: start + .seconds(50))
        #expect(keepAlive.due == start + .seconds(61))
        keepAlive.hasPassed(at: start + .seconds(61))
        // Reading at 50 s may have written: then the ping at 61 s was not due before 110 s.
        #expect(keepAlive.due == start + .seconds(111))
    }

    @Test("the keep-alive is postponed by writing")
    func writes() {
        var keepAlive = KeepAlive(seconds: 10, now: start)
        keepAlive.hasRead(at: start + .seconds(5))
        keepAlive.hasWritten(at: start + .seconds(5))
        #expect(keepAlive.due == start + .seconds(16))
    }

    @Test("the keep-alive is due when nothing was read for a period, however much is written")
    func silence() {
        var keepAlive = KeepAlive(seconds: 10, now: start)
        for second in 1...10 { keepAlive.hasWritten(at: start + .seconds(second)) }
        #expect(keepAlive.due == start + .seconds(11))
        // A ping is out, and its answer has as long again.
        keepAlive.hasPassed(at: start + .seconds(11))
        for second in 12...20 { keepAlive.hasWritten(at: start + .seconds(second)) }
        #expect(keepAlive.due == start + .seconds(22))
    }
}

@Suite("Queue of messages")
struct QueueTests {
    @Test("a queue returns its elements in order, through many rounds")
    func order() {
        var queue = Queue<Int>()
        var expected = 0
        for number in 0..<10_000 {
            queue.append(number)
            if number % 3 != 0 {
                #expect(queue.popFirst() == expected)
                expected += 1
            }
        }
        while let number = queue.popFirst() {
            #expect(number == expected)
            expected += 1
        }
        #expect(expected == 10_000)
        #expect(queue.isEmpty && queue.first == nil)
    }
}
