import Groundwork
import Prompts
import TestSupport
import Testing

@testable import Proximity

@Suite("Authorizing a scanned code", .timeLimit(.minutes(5)))
struct ScannedCodeTests {
    let recorder = Recorder()
    let gateway = FakeGateway()
    let clock = ManualClock()

    private func authorizer(
        _ policy: ConsentDesk.Policy, audit: @escaping @Sendable (AuditRecord) async throws -> Void = { _ in }
    ) -> SessionAuthorizer {
        var settings = ConsentDesk.Settings()
        settings.policy = policy
        let desk = ConsentDesk(
            settings: settings, prompts: PromptDesk(clock: clock), clock: clock, events: recorder.events, audit: audit)
        return SessionAuthorizer(gateway: gateway, desk: desk, events: recorder.events)
    }

    @Test("a scanned code is authorized at the gateway after consent (MAG 7.3)")
    func granted() async throws {
        try await authorizer(.grantAll).authorize(scanned: ownURL, name: "TV")
        #expect(gateway.authorized.entries == [ownURL])
    }

    @Test("a scanned code is authorized at the gateway only after the consent is recorded")
    func recordedBefore() async throws {
        let outcomes = Log<AuditRecord.Outcome>()
        let authorized = gateway.authorized
        try await authorizer(.grantAll) {
            #expect(authorized.entries.isEmpty == ($0.outcome == .unknown))
            outcomes.append($0.outcome)
        }.authorize(scanned: ownURL)
        #expect(outcomes.entries == [.unknown, .authorized])
    }

    @Test("a scanned code whose consent cannot be recorded is not authorized at the gateway")
    func unrecorded() async {
        await #expect(throws: ProximityError.consentNotRecorded(reason: ProximityError.loginInProgress.message)) {
            try await authorizer(.grantAll) { _ in throw ProximityError.loginInProgress }.authorize(scanned: ownURL)
        }
        #expect(gateway.authorized.entries.isEmpty)
    }

    @Test("a scanned code's origin is checked before anybody is asked (MAG checklist 36)")
    func foreign() async throws {
        await #expect(throws: ProximityError.invalidAuthorizeURL(reason: "not a URL of this gateway")) {
            try await authorizer(.grantAll).authorize(scanned: "https://evil.test/a")
        }
        #expect(gateway.authorized.entries.isEmpty)
        try await recorder.log.wait { $0.name == "proximity.session-not-authorized" }
        #expect(recorder.names == ["session-not-authorized"])
    }

    @Test("a scanned code without consent causes no call of the gateway")
    func refused() async {
        await #expect(throws: ProximityError.nobodyToAsk) {
            try await authorizer(.refuseAll).authorize(scanned: ownURL)
        }
        #expect(gateway.authorized.entries.isEmpty)
    }
}
