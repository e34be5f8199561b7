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

    @Test("the read threshold is given up when they do not arrive, until new messages are sent")
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
