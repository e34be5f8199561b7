import Testing

@testable import Bluetooth

@Suite("Events of a peripheral", .timeLimit(.minutes(5)))
struct EventQueueTests {
    private let characteristic = BluetoothUUID(short: 0x2A00)

    private func central(_ number: Int) -> CentralID {
        CentralID(address: BluetoothAddress("00:AA:01:00:00:00", kind: .public)!, number: number)
    }

    private func written(_ number: Int, bytes: Int) -> PeripheralEvent {
        .written(central(number), characteristic: characteristic, value: [UInt8](repeating: 1, count: bytes))
    }

    @Test("events of a peripheral are read in order")
    func order() async {
        let queue = EventQueue()
        for event in [.started, .connected(central(1)), written(1, bytes: 1), .disconnected(central(1))]
            as [PeripheralEvent]
        {
            #expect(queue.put(event))
        }
        queue.finish()
        var read: [PeripheralEvent] = []
        for await event in queue.stream { read.append(event) }
        #expect(read == [.started, .connected(central(1)), written(1, bytes: 1), .disconnected(central(1))])
    }

    @Test("a peripheral refuses events of a central that floods, and keeps the others'")
    func flood() {
        let queue = EventQueue()
        var kept = 0
        while queue.put(written(1, bytes: 20)), kept < 100_000 { kept += 1 }
        #expect(kept == EventQueue.share.events)
        #expect(queue.put(written(2, bytes: 20)))
        #expect(queue.put(.disconnected(central(1))))
    }

    @Test("events of a peripheral are bounded by their bytes too, and a reader makes room")
    func bytes() async {
        let queue = EventQueue()
        var kept = 0
        while queue.put(written(1, bytes: 512)), kept < 100_000 { kept += 1 }
        #expect(kept == EventQueue.share.bytes / 512)
        var reader = queue.stream.makeAsyncIterator()
        #expect(await reader.next() == written(1, bytes: 512))
        #expect(queue.put(written(1, bytes: 512)))
        #expect(!queue.put(written(1, bytes: 512)))
    }

    @Test("events of a peripheral wake a waiting reader, and a canceled reader ends")
    func waking() async {
        let queue = EventQueue()
        let reader = Task {
            var read: [PeripheralEvent] = []
            for await event in queue.stream { read.append(event) }
            return read
        }
        for number in 0..<1000 { _ = queue.put(.connected(central(number))) }
        reader.cancel()
        _ = await reader.value
        let other = EventQueue()
        let second = Task {
            for await event in other.stream { return event as PeripheralEvent? }
            return nil
        }
        #expect(other.put(.started))
        #expect(await second.value == .started)
    }
}
