import Glibc
import Testing

@testable import Messaging

@Suite("Read threshold")
struct ReadThresholdTests {
    /// What the kernel waits for before it wakes a reader (socket(7), SO_RCVLOWAT).
    private func lowWater(_ socket: Int32) -> Int32 {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &value, &size) == 0 ? value : -1
    }

    @Test("the read threshold is the least size of the expected acknowledgements, and is not raised for a few")
    func raised() throws {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(socket >= 0)
        defer { close(socket) }
        var threshold = ReadThreshold()
        #expect(lowWater(socket) == 1)
        threshold.raise(for: 50, on: socket)
        #expect(lowWater(socket) == 200 && threshold.isRaised)
        threshold.raise(for: 9, on: socket)
        #expect(lowWater(socket) == 36)
        for few in [7, 1, 0, -3] {
            threshold.raise(for: few, on: socket)
            #expect(lowWater(socket) == 1 && !threshold.isRaised)
        }
    }

    @Test("the read threshold is given up when acknowledgements do not come, until new messages are sent")
    func givenUp() throws {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(socket >= 0)
        defer { close(socket) }
        var threshold = ReadThreshold()
        threshold.raise(for: 50, on: socket)
        threshold.giveUp(on: socket)
        threshold.raise(for: 50, on: socket)
        #expect(lowWater(socket) == 1 && !threshold.isRaised)
        threshold.resume()
        threshold.raise(for: 50, on: socket)
        #expect(lowWater(socket) == 200)
    }
}

@Suite("Size of an acknowledgement")
struct AcknowledgementSizeTests {
    /// Calls `body` with a socket, and what the kernel waits for there.
    private func withSocket(_ body: (Int32, () -> Int32) throws -> Void) throws {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(socket >= 0)
        defer { close(socket) }
        try body(socket) {
            var (value, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
            getsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &value, &size)
            return value
        }
    }

    @Test("the size of an acknowledgement is learned at the threshold, within what TLS can add")
    func learned() throws {
        try withSocket { socket, lowWater in
            var threshold = ReadThreshold()
            threshold.raise(for: 50, on: socket)
            threshold.learn(from: 6)
            threshold.raise(for: 50, on: socket)
            #expect(lowWater() == 50 * 33)
            threshold.learn(from: 50)
            threshold.raise(for: 20, on: socket)
            #expect(lowWater() == 20 * 33)
            threshold.learn(from: 1)
            threshold.raise(for: 20, on: socket)
            #expect(lowWater() == 20 * 64)
            threshold.learn(from: 1000)
            threshold.raise(for: 20, on: socket)
            #expect(lowWater() == 20 * 4)
        }
    }

    @Test("the size of an acknowledgement is forgotten when none come, or with a broker that writes several")
    func forgotten() throws {
        try withSocket { socket, lowWater in
            var threshold = ReadThreshold()
            func batch(reaching acknowledgements: Int?) {
                threshold.resume()
                threshold.raise(for: 10, on: socket)
                if let acknowledgements {
                    threshold.learn(from: acknowledgements)
                } else {
                    threshold.giveUp(on: socket)
                }
            }
            // Once among many.
            for number in 0..<100 { batch(reaching: number == 0 ? 1 : 10) }
            batch(reaching: nil)
            batch(reaching: 1)
            threshold.raise(for: 10, on: socket)
            #expect(lowWater() == 400)
            // And at once again.
            batch(reaching: nil)
            batch(reaching: 1)
            threshold.raise(for: 10, on: socket)
            #expect(lowWater() == 40)
        }
    }
}

@Suite("Receive pace")
struct ReceivePaceTests {
    @Test("a message that comes alone is never waited for, however quickly one follows the other")
    func alone() {
        var pace = ReceivePace()
        for _ in 0..<100 {
            pace.received(1, bytes: 200)
            #expect(pace.bytes == 1 && !pace.isRaised)
        }
    }

    @Test("in a burst twice as much is waited for each time, up to a limit, until a message comes alone")
    func burst() {
        var pace = ReceivePace()
        pace.received(2, bytes: 500)
        #expect(pace.bytes == 1000 && pace.isRaised)
        pace.received(5, bytes: 1250)
        pace.received(3, bytes: 700)
        #expect(pace.bytes == 2500)
        pace.received(20, bytes: 5000)
        #expect(pace.bytes == ReceivePace.most)
        pace.received(1, bytes: 5000)
        #expect(!pace.isRaised)
    }

    @Test("a broker that sends less before it is acknowledged is not waited for again and again")
    func limitedBroker() {
        var (pace, stalls) = (ReceivePace(), 0)
        for _ in 0..<1000 {
            // Sends twenty messages of 50 bytes, then waits.
            if pace.bytes > 1000 {
                pace.end()
                stalls += 1
                #expect(!pace.isRaised)
            }
            pace.received(20, bytes: 1000)
        }
        #expect(stalls == 1 && pace.isRaised)
    }
}
