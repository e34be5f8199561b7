import Bluetooth
import Prompts
import Synchronization
import TestSupport
import Testing

@testable import Proximity

@Suite("Sharing a session", .timeLimit(.minutes(5)))
struct SharingServiceTests {
    let clock = ManualClock()
    let recorder = Recorder()
    let records = Log<AuditRecord>()
    let transport = FakeTransport()
    let gateway = FakeGateway()
    let desk: ConsentDesk
    let sharing: SharingService

    init() {
        let records = records
        desk = ConsentDesk(prompts: PromptDesk(clock: clock), clock: clock, events: recorder.events) {
            records.append($0)
        }
        var settings = SharingSettings(service: service, characteristic: characteristic)
        settings.localName = "board"
        sharing = SharingService(
            transport: transport, gateway: gateway, desk: desk, settings: settings, clock: clock,
            events: recorder.events)
    }

    func start(_ term: SharingTerm = .endless) async throws -> (Task<SharingEnd, any Error>, FakePeripheral) {
        let running = Task { try await sharing.run(term) }
        let peripheral = try await transport.served.wait { _ in true }
        peripheral.feed.yield(.started)
        try await recorder.log.wait(for: .sharingStarted)
        return (running, peripheral)
    }

    func asked(_ count: Int = 1) async throws -> ConsentRequest {
        let event = try await recorder.log.wait(count) { if case .consentAsked = $0 { true } else { false } }
        guard case .consentAsked(let request) = event else { preconditionFailure("waited for a question") }
        return request
    }

    @Test("sharing a session asks for consent, then the gateway, then says 0 (MAG 8.5, MAG checklist 38)")
    func granted() async throws {
        let (running, peripheral) = try await start()
        peripheral.request(by: central(1))
        let request = try await asked()
        #expect(request.requester.name == "Pixel")
        #expect(gateway.authorized.entries.isEmpty)
        try await desk.answer(request.id, grant: true, by: .user("root"))
        try await peripheral.acts.wait(for: .notified(central(1), "0"))
        #expect(gateway.authorized.entries == [ownURL])
        try await recorder.log.wait { $0.state == .sessionNotified }
        #expect(
            recorder.names == [
                "sharing-started", "central-connected", "central-subscribed", "request-received", "consent-asked",
                "consent-answered", "session-authorized", "session-notified",
            ])
        #expect(records.entries.map(\.outcome) == [.unknown, .authorized])
        await sharing.stop()
        #expect(try await running.value == .requested)
        #expect(peripheral.acts.entries.last == .stopped)
    }

    @Test("sharing a session offers the service of MAG 8.1: writes of both kinds, notify and indicate")
    func offered() async throws {
        let (running, peripheral) = try await start()
        #expect(peripheral.service.uuid == service)
        #expect(
            peripheral.service.characteristics.map(\.properties) == [
                [.write, .writeWithoutResponse, .notify, .indicate]
            ])
        #expect(peripheral.service.characteristics.map(\.requiresEncryption) == [false])
        #expect(peripheral.advertisement == Advertisement(service: service, localName: "board"))
        running.cancel()
        #expect(try await running.value == .cancelled)
        #expect(peripheral.acts.entries == [.stopped])
    }

    @Test("sharing a session says 2 when a person declines, without the gateway")
    func declined() async throws {
        let (running, peripheral) = try await start()
        peripheral.request(by: central(1))
        try await desk.answer(try await asked().id, grant: false, by: .user("root"))
        try await peripheral.acts.wait(for: .notified(central(1), "2"))
        #expect(gateway.authorized.entries.isEmpty)
        running.cancel()
        _ = try await running.value
    }

    @Test("sharing a session says 2 when nobody answers in time")
    func timedOut() async throws {
        let (running, peripheral) = try await start()
        peripheral.request(by: central(1))
        _ = try await asked()
        await clock.advance(by: .seconds(30))
        try await peripheral.acts.wait(for: .notified(central(1), "2"))
        running.cancel()
        _ = try await running.value
    }

    @Test("sharing a session says 1 when the gateway does not follow, and records it")
    func gatewayFailed() async throws {
        gateway.behavior.withLock {
            $0.authorization = GatewayFailure(code: "gateway.refused", message: "session expired")
        }
        let (running, peripheral) = try await start()
        peripheral.request(by: central(1))
        try await desk.answer(try await asked().id, grant: true, by: .user("root"))
        try await peripheral.acts.wait(for: .notified(central(1), "1"))
        #expect(records.entries.map(\.outcome) == [.unknown, .failed(code: "gateway.refused")])
        running.cancel()
        _ = try await running.value
    }

    @Test("sharing a session is refused without a user session (MAG 8.6: 103)")
    func noSession() async {
        gateway.behavior.withLock {
            $0.session = GatewayFailure(code: "gateway.no-user", message: "no user is logged in")
        }
        let error = await #expect(throws: ProximityError.self) { try await sharing.run(.endless) }
        #expect(error == .noUserSession(reason: "no user is logged in"))
        #expect(error?.numbers.android == 103)
        #expect(transport.served.entries.isEmpty)
    }

    @Test("sharing a session asks nobody when the user has logged out since")
    func loggedOut() async throws {
        let (running, peripheral) = try await start()
        gateway.behavior.withLock {
            $0.session = GatewayFailure(code: "gateway.no-user", message: "no user is logged in")
        }
        peripheral.request(by: central(1))
        try await peripheral.acts.wait(for: .notified(central(1), "1"))
        #expect(!recorder.names.contains("consent-asked"))
        running.cancel()
        _ = try await running.value
    }

    @Test("sharing a session asks nobody about the URL of another gateway (MAG checklist 36)")
    func foreign() async throws {
        let (running, peripheral) = try await start()
        peripheral.request(by: central(1), "https://evil.test/auth")
        try await peripheral.acts.wait(for: .notified(central(1), "1"))
        #expect(!recorder.names.contains("consent-asked"))
        let event = try await recorder.log.wait { $0.name == "proximity.request-refused" }
        #expect(event.numbers == ErrorNumbers(android: 121, ios: 650_104))
        running.cancel()
        _ = try await running.value
    }

    @Test("sharing a session serves several centrals at once, and asks about one at a time")
    func several() async throws {
        let (running, peripheral) = try await start()
        peripheral.request(by: central(1), "https://gw.lab.test:8443/1", name: "one")
        let first = try await asked()
        peripheral.request(by: central(2), "https://gw.lab.test:8443/2", name: "two")
        try await recorder.log.wait(2) { $0.name == "proximity.request-received" }
        gateway.gate.close()
        try await desk.answer(first.id, grant: true, by: .user("root"))
        // The gateway is still busy with the first when the second one has its answer.
        let second = try await asked(2)
        #expect(second.requester.name == "two")
        try await desk.answer(second.id, grant: false, by: .user("root"))
        try await peripheral.acts.wait(for: .notified(central(2), "2"))
        gateway.gate.open()
        try await peripheral.acts.wait(for: .notified(central(1), "0"))
        running.cancel()
        _ = try await running.value
    }

    @Test("sharing a session withdraws the question when the requester leaves")
    func left() async throws {
        let (running, peripheral) = try await start()
        peripheral.request(by: central(1))
        _ = try await asked()
        peripheral.feed.yield(.disconnected(central(1)))
        try await recorder.log.wait { if case .consentAnswered(_, .withdrawn) = $0 { true } else { false } }
        #expect(await desk.pending.isEmpty)
        running.cancel()
        _ = try await running.value
    }

    @Test("sharing a session reports that the central could not be answered (MAG 8.6: 123)")
    func notNotified() async throws {
        let (running, peripheral) = try await start()
        peripheral.notifyFailure.withLock { $0 = .disconnected }
        peripheral.request(by: central(1))
        try await desk.answer(try await asked().id, grant: true, by: .user("root"))
        let event = try await recorder.log.wait { $0.name == "proximity.session-not-notified" }
        #expect(event.numbers == ErrorNumbers(android: 123, ios: 650_004))
        running.cancel()
        _ = try await running.value
    }

    @Test("sharing a session hangs up a refused stranger rather than a central that waits for consent")
    func sparesWaiting() async throws {
        transport.script.withLock { $0.sendsToAll = true }
        let (running, peripheral) = try await start()
        peripheral.request(by: central(1))
        let question = try await asked()
        peripheral.request(by: central(2), "https://evil.test/auth")
        try await peripheral.acts.wait(for: .hungUp(central(2)))
        #expect(await desk.pending.map(\.id) == [question.id])
        try await desk.answer(question.id, grant: true, by: .user("root"))
        try await peripheral.acts.wait(for: .notified(central(1), "0"))
        #expect(peripheral.acts.entries == [.hungUp(central(2)), .notified(central(1), "0")])
        running.cancel()
        _ = try await running.value
    }

    @Test("sharing a session asks nobody about a gateway URL that authorizes no device, and says 1")
    func otherInterface() async throws {
        gateway.behavior.withLock {
            $0.form = GatewayFailure(code: "gateway.provider-url-invalid", message: "another interface")
        }
        let (running, peripheral) = try await start()
        peripheral.request(by: central(1))
        try await peripheral.acts.wait(for: .notified(central(1), "1"))
        #expect(!recorder.names.contains("consent-asked"))
        let event = try await recorder.log.wait { $0.name == "proximity.session-not-authorized" }
        #expect(event.error == .invalidAuthorizeURL(reason: "another interface"))
        running.cancel()
        _ = try await running.value
    }

    @Test("sharing a session asks nobody again about a URL that a person refused, however it is spelled")
    func respelled() async throws {
        let (running, peripheral) = try await start()
        peripheral.request(by: central(1))
        try await desk.answer(try await asked().id, grant: false, by: .user("root"))
        try await peripheral.acts.wait(for: .notified(central(1), "2"))
        peripheral.request(by: central(2), ownURL.replacing("7b", with: "7B") + "?again=1")
        try await peripheral.acts.wait(for: .notified(central(2), "1"))
        #expect(recorder.names.count { $0 == "consent-asked" } == 1)
        // Sharing that begins anew has not forgotten it.
        await sharing.stop()
        _ = try await running.value
        let next = Task { try await sharing.run(.endless) }
        let again = try await transport.served.wait(2) { _ in true }
        again.request(by: central(3))
        try await again.acts.wait(for: .notified(central(3), "1"))
        next.cancel()
        _ = try await next.value
    }

    @Test("sharing a session hangs up after its last answer to a central that floods it")
    func hungUp() async throws {
        let (running, peripheral) = try await start()
        peripheral.feed.yield(.connected(central(1)))
        for _ in 0..<60 { peripheral.write([UInt8](repeating: 32, count: 200), by: central(1)) }
        try await peripheral.acts.wait(for: .hungUp(central(1)))
        #expect(peripheral.acts.entries == [.notified(central(1), "1"), .hungUp(central(1))])
        peripheral.request(by: central(2))
        #expect(try await asked().requester.address == "\(address(2))")
        running.cancel()
        _ = try await running.value
    }

    @Test("sharing a session hangs up a central that says nothing, after 30 s")
    func silent() async throws {
        let (running, peripheral) = try await start()
        peripheral.feed.yield(.connected(central(1)))
        await clock.advance(by: .seconds(30))
        try await peripheral.acts.wait(for: .hungUp(central(1)))
        running.cancel()
        _ = try await running.value
    }
}
