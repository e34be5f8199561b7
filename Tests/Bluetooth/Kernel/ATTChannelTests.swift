import Glibc
import Testing

@testable import Bluetooth

@Suite("A channel whose peer reads nothing", .timeLimit(.minutes(5)))
struct ATTChannelTests {
    @Test("what waits for a central that never reads is bounded, and nothing more of it is read")
    func unread() throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        let peer = Descriptor(ends[1])
        // Nobody serves this queue: what it would be told does not matter here.
        let channel = ATTChannel(Descriptor(ends[0]), on: BluetoothQueue(), readable: {}, writable: {})
        let packet = [UInt8](repeating: 0x1B, count: ATTChannel.limit)
        var sent = 0
        while !channel.isCongested, sent < 100_000 {
            #expect(channel.send(packet))
            sent += 1
        }
        var waiting = 1
        while channel.send(packet), waiting < 100_000 { waiting += 1 }
        #expect(waiting == ATTChannel.bound)
        #expect(sent < 100_000)
        channel.close()
        withExtendedLifetime(peer) {}
    }
}
