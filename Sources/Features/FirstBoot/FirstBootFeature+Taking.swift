import AgentCore
import AgentGateway
import Cryptography
import Gateway
import Groundwork
import Vault

/// What the agent does with an enrollment that waits for it.
extension FirstBootFeature {
    static var ledger: RecordName { RecordName(scope: "", name: "enrollments") }

    func enrollmentLedger() async throws -> EnrollmentLedger {
        try await host.vault.record(Self.ledger).map { EnrollmentLedger(parsing: $0.content.exposed()) }
            ?? EnrollmentLedger()
    }

    /// - Throws: `GatewayError`
    func configuration(of content: EnrollmentContent) async throws -> GatewayConfiguration {
        try await content.configuration(
            using: host.client, nameCheck: host.settings.gateway.nameCheck, judgedAt: { [time = host.time] in time.now }
        )
    }

    /// Makes the configuration that of the default account, unless it has one; in the same commit it is noted that the
    /// enrollment was taken. The link then registers the board, and keeps trying, unless a user has to.
    ///
    /// - Returns: whether it was taken.
    func take(_ gateway: GatewayConfiguration, of waiting: WaitingEnrollment) async throws -> Bool {
        try await gateways.takeFirst(gateway, alsoStoring: try await change(noting: waiting, .taken))
    }

    /// Notes that an enrollment can never be used, so that it is not tried again. A failure to do so costs one try.
    func remember(_ waiting: WaitingEnrollment, refusedFor error: any Error) async {
        guard let note = try? await change(noting: waiting, .refused(Explanation(of: error).message)) else { return }
        try? await host.vault.commit(note)
    }

    /// Codes are not remembered: a person shows them.
    private func change(
        noting waiting: WaitingEnrollment, _ outcome: EnrollmentLedger.Outcome
    ) async throws -> [Change] {
        guard waiting.source != .scanner else { return [] }
        let ledger = try await enrollmentLedger().adding(EnrollmentLedger.hash(of: waiting.content), outcome)
        return [.put(Self.ledger, .state, SecretBytes(ledger.bytes))]
    }
}
