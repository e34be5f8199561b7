import Groundwork
import Synchronization
import TestSupport
import Testing

@testable import Bluetooth

@Suite("The transport that is chosen by itself", .timeLimit(.minutes(5)))
struct AutomaticTransportTests {
    private let daemon = FakeTransport()
    private let kernel = FakeTransport()
    private let changes = Broadcast<Bool>()
    private let clock = ManualClock()
    private let service = BluetoothUUID(short: 0xfff0)

    private var transport: AutomaticTransport {
        AutomaticTransport(daemon: daemon, kernel: kernel) { [clock] in
            try await clock.sleep(until: clock.now + $0)
        } presence: { [changes] in
            changes.subscribe()
        }
    }

    private func daemon(isThere: Bool) {
        daemon.script.withLock { $0.fault = isThere ? nil : .daemonMissing }
        changes.send(isThere)
    }

    private func serve(_ transport: AutomaticTransport) async throws -> any Peripheral {
        try await transport.serve(
            LocalService(uuid: service, characteristics: []), advertising: Advertisement(service: service))
    }

    @Test("a service of the kernel's ends when bluetoothd comes, and is then put on the air by it")
    func comes() async throws {
        let transport = transport
        daemon(isThere: false)
        let first = try await serve(transport)
        #expect(kernel.served.entries.count == 1)
        daemon(isThere: true)
        for await _ in first.events {}
        let second = try await serve(transport)
        #expect(daemon.served.entries.count == 1)
        // As its owner does once it has another: the one at bluetoothd may have a successor there by then.
        await first.stop()
        #expect(kernel.served.entries[0].acts.entries == [.stopped])
        await second.stop()
        #expect(daemon.served.entries[0].acts.entries == [.stopped])
    }

    @Test("a service of bluetoothd's outlives a restart of it, and goes to the kernel when it stays away")
    func goes() async throws {
        let transport = transport
        let peripheral = try await serve(transport)
        #expect(daemon.served.entries.count == 1)
        daemon(isThere: false)
        daemon(isThere: true)
        await clock.advance(by: AutomaticTransport.restart)
        // Once to decide, and once to see whether it has come back.
        try await daemon.asked.wait(2) { $0 }
        #expect(daemon.served.entries[0].acts.entries.isEmpty)
        daemon(isThere: false)
        await clock.advance(by: AutomaticTransport.restart)
        for await _ in peripheral.events {}
        _ = try await serve(transport)
        #expect(kernel.served.entries.count == 1)
    }

    @Test("what is not on the air is decided each time")
    func status() async throws {
        let transport = transport
        kernel.script.withLock { $0.fault = .noPermission(operation: "advertise") }
        daemon(isThere: false)
        #expect(await transport.status().fault == .noPermission(operation: "advertise"))
        _ = try await transport.scan(for: service)
        #expect(kernel.scans.entries.count == 1)
        daemon(isThere: true)
        #expect(await transport.status().fault == nil)
        _ = try await transport.scan(for: service)
        #expect(daemon.scans.entries.count == 1)
    }
}
