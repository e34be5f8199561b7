import Bluetooth
import Synchronization
import TestSupport
import Testing

@testable import Proximity

@Suite("Logging in by a device nearby", .timeLimit(.minutes(5)))
struct LoginTests {
    let clock = ManualClock()
    let recorder = Recorder()
    let transport = FakeTransport()
    let gateway = FakeGateway()

    func login(_ change: (inout ProximityLoginSettings) -> Void = { _ in }) -> Task<String, any Error> {
        var settings = ProximityLoginSettings(service: service, characteristic: characteristic)
        settings.deviceName = "board"
        change(&settings)
        let login = ProximityLogin(
            transport: transport, gateway: gateway, settings: settings, clock: clock, events: recorder.events)
        return Task { try await login.run() }
    }

    /// The connection's time limit is not over at the moment that the first poll is due: which of the two a test moves
    /// the clock for would be chance.
    static func beforeFirstPoll(_ settings: inout ProximityLoginSettings) { settings.connectionTimeout = .seconds(9) }

    func stand(_ number: UInt8, _ remotes: FakeRemote...) {
        transport.script.withLock { $0.remotes[address(number)] = remotes }
    }

    /// Has device 1 seen, and the choice made.
    func choose() async throws {
        try await transport.scans.wait { _ in true }.see(1, -50, name: "Pixel")
        await clock.advance(by: .seconds(2))
    }

    @Test("a login by a device nearby scans, connects, subscribes, writes, reads 0, polls and logs in (MAG 8.2)")
    func whole() async throws {
        let remote = FakeRemote(.init(answer: "0"))
        stand(1, remote)
        gateway.behavior.withLock { $0.polls = [.success(true)] }
        let login = login()
        try await choose()
        #expect(try await login.value == "alice")
        try await recorder.log.wait(for: .deviceDisconnected(address: "\(address(1))"))
        #expect(
            recorder.names == [
                "scan-started", "device-detected", "scan-stopped", "device-connected", "service-discovered",
                "characteristic-found",
                "request-written", "login-succeeded", "device-disconnected",
            ])
        #expect(recorder.log.entries.compactMap(\.state?.rawValue) == [0, 2, 1, 3, 5, 6, 7, 8, 4])
        #expect(remote.steps.entries.prefix(3) == [.discover, .subscribe, .write])
        #expect(remote.written.entries.last == Array("EOM".utf8))
        #expect(remote.written.entries.allSatisfy { $0.count <= 20 })
        let bytes = Array(remote.written.entries.dropLast().joined())
        #expect(try ProximityRequest(parsing: bytes) == ProximityRequest(providerURL: ownURL, deviceName: "board"))
        #expect(!remote.responses.entries.contains(true))
        #expect(!remote.closed.entries.isEmpty)
        try await transport.scans.entries[0].ended.wait { _ in true }
    }

    @Test("a login by a device nearby is reported before the connection has ended, which may take a while")
    func slowEnd() async throws {
        let remote = FakeRemote(.init(answer: "0"), hangsAt: .close)
        stand(1, remote)
        gateway.behavior.withLock { $0.polls = [.success(true)] }
        let login = ProximityLogin(
            transport: transport, gateway: gateway,
            settings: ProximityLoginSettings(service: service, characteristic: characteristic),
            clock: clock, events: recorder.events)
        let run = Task { try await login.run() }
        try await choose()
        #expect(try await run.value == "alice")
        try await remote.closed.wait { _ in true }
        #expect(!recorder.names.contains("device-disconnected"))
        remote.letGo.append(true)
        await login.disconnected()
        try await recorder.log.wait(for: .deviceDisconnected(address: "\(address(1))"))
        #expect(remote.closed.entries.count == 1)
    }

    @Test("a login nearby asks the nearest device of the window first, and the next when out of reach")
    func nearestFirst() async throws {
        stand(2, FakeRemote(.init(answer: "0")))
        gateway.behavior.withLock { $0.polls = [.success(true)] }
        let login = login()
        let scan = try await transport.scans.wait { _ in true }
        scan.see(1, -75)
        scan.see(2, -60)
        scan.see(3, -40)
        scan.see(4, -90)
        try await recorder.log.wait { $0.name == "proximity.device-too-far" }
        await clock.advance(by: .seconds(2))
        #expect(try await login.value == "alice")
        #expect(transport.connections.entries == [address(3), address(2)])
        let far = recorder.log.entries.first { $0.name == "proximity.device-too-far" }
        #expect(far?.numbers == ErrorNumbers(ios: 650_009))
    }

    @Test("a login nearby goes on to the next device where the characteristic is missing (MAG 8.6: 650016)")
    func characteristicMissing() async throws {
        stand(1, FakeRemote(.init(hasCharacteristic: false)))
        stand(2, FakeRemote(.init(answer: "0")))
        gateway.behavior.withLock { $0.polls = [.success(true)] }
        let login = login()
        let scan = try await transport.scans.wait { _ in true }
        scan.see(1, -40)
        scan.see(2, -60)
        try await recorder.log.wait(2) { $0.state == .deviceDetected }
        await clock.advance(by: .seconds(2))
        #expect(try await login.value == "alice")
        let failed = try await recorder.log.wait { $0.name == "proximity.device-failed" }
        #expect(failed.numbers?.ios == 650_016)
    }

    @Test("a login nearby scans again when nobody could be reached, and asks nobody a third time")
    func again() async throws {
        let login = login()
        for attempt in 1...2 {
            try await transport.scans.wait(attempt) { _ in true }.see(1, -50)
            try await recorder.log.wait(attempt) { $0.state == .deviceDetected }
            await clock.advance(by: .seconds(2))
            try await recorder.log.wait(attempt) { $0.name == "proximity.device-failed" }
        }
        let scan = try await transport.scans.wait(3) { _ in true }
        scan.see(1, -50)
        await clock.advance(by: .seconds(106))
        await #expect(throws: ProximityError.self) { try await login.value }
        #expect(transport.connections.entries == [address(1), address(1)])
    }

    @Test("a login nearby fails when no device is near before the time is over")
    func nobody() async throws {
        let login = login()
        try await transport.scans.wait { _ in true }.see(1, -81)
        try await recorder.log.wait { $0.name == "proximity.device-too-far" }
        await clock.advance(by: .seconds(110))
        await #expect(throws: ProximityError.noPeripheralFound(leastSignal: -80)) { try await login.value }
        try await recorder.log.wait { $0.state == .authorizationFailed }
    }

    @Test(
        "a login nearby takes anything but 0 for a failure, with what it says (MAG checklist 37)",
        arguments: [
            ("1", ProximityError.authorizationFailed(answer: "1")), ("2", .userDeclined(by: "the other device")),
            ("00", .authorizationFailed(answer: "00")), ("", .authorizationFailed(answer: "")),
            ("session\u{0}\nexpired", .authorizationFailed(answer: "session expired")),
        ])
    func notAuthorized(answer: String, error: ProximityError) async throws {
        stand(1, FakeRemote(.init(answer: answer)))
        let login = login()
        try await choose()
        await #expect(throws: error) { try await login.value }
        #expect(gateway.polled.entries.isEmpty)
        #expect(transport.connections.entries.count == 1, "the answer is final")
    }

    @Test("a login nearby polls after 10 s and every 5 s where it cannot subscribe (MAG 8.2, 8.4)")
    func fallback() async throws {
        stand(1, FakeRemote(.init(canSubscribe: false)))
        gateway.behavior.withLock { $0.polls = [.success(false), .success(false), .success(true)] }
        let login = login(Self.beforeFirstPoll)
        try await choose()
        try await recorder.log.wait { $0.state == .characteristicWritten }
        await clock.advance(by: .seconds(10))
        try await gateway.polled.wait(for: 1)
        await clock.advance(by: .seconds(5))
        try await gateway.polled.wait(for: 2)
        await clock.advance(by: .seconds(5))
        #expect(try await login.value == "alice")
        try await recorder.log.wait(for: .polled(attempt: 2, of: 6))
    }

    @Test("a login nearby waits for the answer of a device that is there even after the last poll")
    func lateAnswer() async throws {
        let remote = FakeRemote()
        stand(1, remote)
        gateway.behavior.withLock { $0.polls = Array(repeating: .success(false), count: 6) + [.success(true)] }
        let login = login()
        try await choose()
        try await recorder.log.wait { $0.state == .characteristicWritten }
        for poll in 1...6 {
            await clock.advance(by: .seconds(poll == 1 ? 10 : 5))
            try await gateway.polled.wait(for: poll)
        }
        remote.say("0")
        #expect(try await login.value == "alice")
    }

    @Test("a login nearby gives up after six polls when the device has left")
    func leftEarly() async throws {
        let remote = FakeRemote()
        stand(1, remote)
        let login = login()
        try await choose()
        try await recorder.log.wait { $0.state == .characteristicWritten }
        remote.feed.finish()
        for poll in 1...6 {
            await clock.advance(by: .seconds(poll == 1 ? 10 : 5))
            try await gateway.polled.wait(for: poll)
        }
        await #expect(throws: ProximityError.notAuthorizedInTime) { try await login.value }
    }

    @Test("a login nearby goes on polling through errors, and reports the last")
    func pollingFails() async throws {
        let remote = FakeRemote()
        stand(1, remote)
        let failure = GatewayFailure(code: "gateway.down", message: "the gateway is down")
        gateway.behavior.withLock { $0.polls = [.failure(failure), .failure(failure)] }
        let login = login {
            Self.beforeFirstPoll(&$0)
            $0.polling.limit = 2
        }
        try await choose()
        try await recorder.log.wait { $0.state == .characteristicWritten }
        remote.feed.finish()
        await clock.advance(by: .seconds(10))
        try await gateway.polled.wait(for: 1)
        await clock.advance(by: .seconds(5))
        let error = await #expect(throws: ProximityError.self) { try await login.value }
        #expect(error == .pollingFailed(reason: "the gateway is down"))
        #expect(error?.numbers.ios == 650_003)
    }

    @Test("a login nearby polls once however often the device says 0")
    func repeated() async throws {
        let remote = FakeRemote()
        stand(1, remote)
        let login = login()
        try await choose()
        try await recorder.log.wait { $0.state == .characteristicWritten }
        for _ in 0..<4 { remote.say("0") }
        try await gateway.polled.wait(for: 1)
        remote.say("1")
        await #expect(throws: ProximityError.authorizationFailed(answer: "1")) { try await login.value }
        #expect(gateway.polled.entries == [1])
    }

    @Test(
        "a login nearby writes larger pieces where the connection and the settings allow them",
        arguments: [(23, 20), (185, 182), (600, 512)])
    func largePieces(mtu: Int, size: Int) async throws {
        let remote = FakeRemote(.init(properties: [.write, .notify], mtu: mtu, answer: "0"))
        stand(1, remote)
        gateway.behavior.withLock { state in
            state.authURL = ownURL + String(repeating: "x", count: 700)
            state.polls = [.success(true)]
        }
        let login = login { $0.allowsLargePieces = true }
        try await choose()
        _ = try await login.value
        #expect(remote.written.entries[0].count == size)
        #expect(!remote.responses.entries.contains(false), "acknowledged where the characteristic allows it")
    }
}
