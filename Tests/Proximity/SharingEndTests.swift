import Bluetooth
import Groundwork
import Prompts
import Synchronization
import TestSupport
import Testing

@testable import Proximity

/// How sharing begins, is interrupted, and ends.
extension SharingServiceTests {
    @Test("sharing with one device to authorize ends after it")
    func once() async throws {
        let (running, peripheral) = try await start(.once)
        peripheral.request(by: central(1))
        try await desk.answer(try await asked().id, grant: true, by: .user("root"))
        try await recorder.log.wait { $0.state == .sessionNotified }
        peripheral.feed.yield(.disconnected(central(1)))
        #expect(try await running.value == .done)
        try await recorder.log.wait(for: .sharingStopped(.done))
    }

    @Test("sharing that is to end does not wait for a gateway that does not answer")
    func endsInTime() async throws {
        let (running, peripheral) = try await start()
        peripheral.request(by: central(1))
        let request = try await asked()
        gateway.gate.close()
        try await desk.answer(request.id, grant: true, by: .user("root"))
        try await gateway.authorized.wait(for: ownURL)
        await sharing.stop()
        await clock.advance(by: .seconds(2))
        try await peripheral.acts.wait(for: .stopped)
        gateway.gate.open()
        #expect(try await running.value == .requested)
        #expect(records.entries.map(\.outcome) == [.unknown, .authorized])
    }

    @Test("sharing for a time ends after it")
    func lasting() async throws {
        let (running, _) = try await start(.lasting(.seconds(120)))
        await clock.advance(by: .seconds(120))
        #expect(try await running.value == .expired)
    }

    @Test("sharing ends at a double press")
    func doublePress() async throws {
        let (running, peripheral) = try await start()
        peripheral.request(by: central(1))
        _ = try await asked()
        await desk.endSharing(by: .button)
        #expect(try await running.value == .requested)
        #expect(
            peripheral.acts.entries == [.notified(central(1), "2"), .stopped], "the requester is told before the end")
    }

    @Test("an answer that the radio confirms after the last moment of sharing is reported before its end")
    func confirmedLate() async throws {
        let (running, peripheral) = try await start()
        let late = Gate()
        peripheral.whenNotified.withLock { $0 = { await late.pass() } }
        peripheral.request(by: central(1))
        _ = try await asked()
        await desk.endSharing(by: .button)
        try await peripheral.acts.wait(for: .notified(central(1), "2"))
        await clock.advance(by: .seconds(2))
        try await peripheral.acts.wait(for: .stopped)
        late.open()
        #expect(try await running.value == .requested)
        try await recorder.log.wait(for: .sharingStopped(.requested))
        #expect(recorder.log.entries.map(\.state).suffix(2).first == .sessionNotified)
    }

    @Test("sharing that is ended while the radio is got ready ends as soon as it is")
    func endedBeforeItBegan() async throws {
        gateway.behavior.withLock { $0.whenSessionIsAsked = { [sharing] in await sharing.stop() } }
        #expect(try await sharing.run(.endless) == .requested)
        #expect(transport.served.entries.first?.acts.entries == [.stopped])
    }

    @Test("sharing comes back when the radio does: interrupted, then started (MAG 8.6: −1, 12)")
    func interrupted() async throws {
        let (running, peripheral) = try await start()
        peripheral.feed.yield(.interrupted(.noAdapter(name: "hci0")))
        let event = try await recorder.log.wait { $0.name == "proximity.sharing-interrupted" }
        #expect(event.state == .unknown)
        peripheral.feed.yield(.started)
        try await recorder.log.wait(for: .sharingStarted, 2)
        peripheral.request(by: central(1))
        _ = try await asked()
        running.cancel()
        _ = try await running.value
    }

    @Test("sharing serves again when the radio gave up, until it succeeds")
    func served() async throws {
        let (running, peripheral) = try await start()
        peripheral.feed.yield(.connected(central(1)))
        try await recorder.log.wait { $0.state == .centralConnected }
        transport.script.withLock { $0.serveFailures = [.noAdapter(name: "hci0"), .noAdapter(name: "hci0")] }
        peripheral.feed.finish()
        for attempt in 1...2 {
            try await recorder.log.wait(attempt) { $0.name == "proximity.sharing-interrupted" }
            clock.move(by: .seconds(60))
        }
        // Whether the sleeper was there before the clock moved is a matter of chance, that it wakes up is not.
        while transport.served.entries.count < 2 {
            try Task.checkCancellation()
            clock.move(by: .seconds(60))
            await Task.yield()
        }
        let next = transport.served.entries[1]
        next.feed.yield(.started)
        try await recorder.log.wait(for: .sharingStarted, 2)
        #expect(recorder.names.contains("central-disconnected"))
        next.request(by: central(2))
        try await desk.answer(try await asked().id, grant: true, by: .user("root"))
        try await next.acts.wait(for: .notified(central(2), "0"))
        running.cancel()
        _ = try await running.value
        #expect(next.acts.entries.last == .stopped)
    }

    @Test(
        "sharing says why it cannot begin",
        arguments: [
            (BluetoothError.noLowEnergy(adapter: "hci0"), 101), (.noAdapter(name: ""), 101),
            (.blocked(adapter: "hci0", hard: false), 100), (.noPermission(operation: "advertise"), 100),
            (.failed(operation: "advertise", reason: "busy"), 120),
        ])
    func cannotBegin(failure: BluetoothError, number: Int) async {
        transport.script.withLock { $0.serveFailures = [failure] }
        let error = await #expect(throws: ProximityError.self) { try await sharing.run(.endless) }
        #expect(error?.numbers.android == number)
        #expect(error?.message.contains(failure.message) == true)
    }

    @Test("sharing reports an adapter that cannot advertise (MAG 8.6: 122)")
    func cannotAdvertise() async {
        transport.script.withLock { script in
            script.canAdvertise = false
            script.serveFailures = [.failed(operation: "advertise", reason: "not supported")]
        }
        let error = await #expect(throws: ProximityError.self) { try await sharing.run(.endless) }
        #expect(error?.numbers.android == 122)
    }

    @Test("sharing is done once at a time, and again after it ended")
    func twice() async throws {
        let (running, _) = try await start()
        await #expect(throws: ProximityError.sharingInProgress) { try await sharing.run(.once) }
        running.cancel()
        _ = try await running.value
        let again = Task { try await sharing.run(.endless) }
        try await transport.served.wait(2) { _ in true }
        again.cancel()
        #expect(try await again.value == .cancelled)
    }
}
