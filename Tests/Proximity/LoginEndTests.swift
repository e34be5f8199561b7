import Bluetooth
import Synchronization
import TestSupport
import Testing

@testable import Proximity

/// How a login that does not succeed comes to its end.
extension LoginTests {
    @Test(
        "a login by a device nearby hangs up a device that stops answering halfway, and goes on",
        arguments: [
            FakeRemote.Step.discover, .subscribe, .write,
        ])
    func stuck(step: FakeRemote.Step) async throws {
        stand(1, FakeRemote(hangsAt: step), FakeRemote(.init(answer: "0")))
        gateway.behavior.withLock { $0.polls = [.success(true)] }
        let login = login()
        try await choose()
        await clock.advance(by: .seconds(10))
        try await recorder.log.wait { $0.name == "proximity.device-failed" }
        try await transport.scans.wait(2) { _ in true }.see(1, -50)
        try await recorder.log.wait(2) { $0.state == .deviceDetected }
        await clock.advance(by: .seconds(2))
        #expect(try await login.value == "alice")
    }

    @Test(
        "a login by a device nearby can be stopped at every step, and closes the connection",
        arguments: [
            FakeRemote.Step.discover, .subscribe, .write,
        ])
    func cancelled(step: FakeRemote.Step) async throws {
        let remote = FakeRemote(hangsAt: step)
        stand(1, remote)
        let login = login()
        try await choose()
        try await remote.steps.wait { $0 == step }
        login.cancel()
        await #expect(throws: CancellationError.self) { try await login.value }
        #expect(transport.scans.entries.count == 1, "nobody else is looked for")
        #expect(!remote.closed.entries.isEmpty)
    }

    @Test("a login by a device nearby can be stopped while it scans and while it waits")
    func cancelledWaiting() async throws {
        let scanning = login()
        let scan = try await transport.scans.wait { _ in true }
        scanning.cancel()
        await #expect(throws: CancellationError.self) { try await scanning.value }
        try await scan.ended.wait { _ in true }

        let remote = FakeRemote()
        stand(1, remote)
        let waiting = login()
        try await transport.scans.wait(2) { _ in true }.see(1, -50)
        await clock.advance(by: .seconds(2))
        try await recorder.log.wait { $0.state == .characteristicWritten }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(!remote.closed.entries.isEmpty)
    }

    @Test("a login by a device nearby ends when its time is over, whatever it waits for")
    func limit() async throws {
        stand(1, FakeRemote())
        let login = login {
            Self.beforeFirstPoll(&$0)
            $0.limit = .seconds(20)
        }
        try await choose()
        try await recorder.log.wait { $0.state == .characteristicWritten }
        await clock.advance(by: .seconds(10))
        try await gateway.polled.wait(for: 1)
        await clock.advance(by: .seconds(5))
        try await gateway.polled.wait(for: 2)
        await clock.advance(by: .seconds(3))
        await #expect(throws: ProximityError.notAuthorizedInTime) { try await login.value }
    }

    @Test("a login by a device nearby fails with the gateway's reason when the code is spent in vain")
    func logInFails() async throws {
        stand(1, FakeRemote(.init(answer: "0")))
        let failure = GatewayFailure(code: "gateway.refused", message: "the code was used")
        gateway.behavior.withLock {
            $0.polls = [.success(true)]
            $0.logIn = failure
        }
        let login = login()
        try await choose()
        await #expect(throws: failure) { try await login.value }
        try await recorder.log.wait(for: .loginFailed(.loginFailed(reason: "the code was used")))
    }

    @Test(
        "a login by a device nearby says why it cannot scan",
        arguments: [
            (BluetoothError.noAdapter(name: ""), 650_010), (.blocked(adapter: "hci0", hard: true), 650_007),
            (.noPermission(operation: "scan"), 650_011), (.failed(operation: "scan", reason: "busy"), 650_013),
        ])
    func cannotScan(failure: BluetoothError, number: Int) async {
        transport.script.withLock { $0.scanFailure = failure }
        let error = await #expect(throws: ProximityError.self) { try await login().value }
        #expect(error?.numbers.ios == number)
    }

    @Test("a login by a device nearby fails when the scan breaks off")
    func scanBreaks() async throws {
        let login = login()
        try await transport.scans.wait { _ in true }.feed.finish(throwing: BluetoothError.noAdapter(name: "hci0"))
        let error = await #expect(throws: ProximityError.self) { try await login.value }
        #expect(error?.numbers.android == 101)
    }

    @Test("a login by a device nearby refuses invalid UUIDs (MAG 8.6: 102)")
    func invalidUUID() {
        let error = #expect(throws: ProximityError.self) {
            try ProximityLoginSettings(serviceUUID: "not a uuid", characteristicUUID: "\(characteristic)")
        }
        #expect(error?.numbers.android == 102)
        #expect(throws: ProximityError.invalidUUID("x")) {
            try SharingSettings(serviceUUID: "\(service)", characteristicUUID: "x")
        }
    }
}
