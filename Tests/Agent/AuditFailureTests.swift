import Foundation
import Groundwork
import Prompts
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentNearby
@testable import Proximity

@Suite("Consent that cannot be recorded", .timeLimit(.minutes(8)))
struct AuditFailureTests {
    /// Asks for consent in an agent whose record cannot be written, and waits until the question is there.
    private func withQuestion(
        _ file: String, _ body: @Sendable (Agent, Task<ConsentAnswer, Never>) async throws -> Void
    ) async throws {
        try await withAgent { agent, _ in
            // A folder in the place of the file cannot be written by anybody, not even root.
            try FileManager.default.createDirectory(
                atPath: "\(agent.host.settings.stateDirectory)/\(file)", withIntermediateDirectories: false)
            var events = agent.host.events.subscribe().makeAsyncIterator()
            var nearby = agent.nearby.events.subscribe().makeAsyncIterator()
            let asking = Task { [desk = agent.nearby.desk] in
                await desk.ask(Requester(name: "Pixel", address: nil, way: .ble))
            }
            while let event = await nearby.next(), event.name != "proximity.consent-asked" {}
            try await body(agent, asking)
            while let event = await events.next(), event.name != "proximity.audit-failed" {}
            #expect(agent.host.lastTrouble?.name == "proximity.audit-failed")
        }
    }

    @Test("the agent reports a refusal that could not be recorded, in the status too")
    func refusal() async throws {
        try await withQuestion("proximity-refusals.jsonl") { _, asking in
            asking.cancel()
            #expect(await asking.value.decision == .withdrawn)
        }
    }

    @Test("the agent lets nobody in whose consent could not be recorded, and reports it")
    func grant() async throws {
        try await withQuestion("proximity-audit.jsonl") { agent, asking in
            let desk = agent.nearby.desk
            let id = try #require(await desk.pending.first?.id)
            try await desk.answer(id, grant: true, by: .user("root"))
            let answer = await asking.value
            let error = await #expect(throws: ProximityError.self) { try await desk.begin(answer) }
            #expect(error?.code == "proximity.consent-not-recorded")
            #expect(error?.message.contains("proximity-audit.jsonl") == true)
        }
    }
}
