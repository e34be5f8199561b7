import AgentCore
import Bluetooth
import Gateway
import Groundwork
import Prompts
import Proximity

/// Proximity login of this board: the parts of both sides, and the desk where people give their consent.
package struct Nearby: Sendable {
    package let events = Broadcast<ProximityEvent>()
    package let radio: Radio
    package let desk: ConsentDesk
    package let audit: AuditLog
    package let sharing: Sharing
    package let logIn: NearbyLogin

    /// - Parameters:
    ///   - prompts: where people are asked, also for consent.
    ///   - radio: creates a radio other than the one that the settings ask for.
    ///   - onAuditFailure: called when a record could not be kept.
    package init(
        _ configuration: AgentConfiguration, deviceName: String, prompts: PromptDesk,
        patience: Sharing.Patience = Sharing.Patience(),
        radio: (@Sendable () async -> any BluetoothTransport)? = nil,
        onAuditFailure: @escaping @Sendable (AgentError) -> Void
    ) {
        self.radio = Radio(
            radio ?? { [bluetooth = configuration.bluetooth] in
                BluetoothChoice(
                    preference: bluetooth.transport, adapter: bluetooth.adapter, isPrivate: bluetooth.isPrivate
                ).makeTransport()
            })
        let settings = configuration.proximity
        let audit = AuditLog(directory: configuration.stateDirectory)
        self.audit = audit
        var asking = ConsentDesk.Settings()
        asking.patience = .seconds(settings.consentSeconds)
        asking.requestsPerMinute = settings.requestsPerMinute
        desk = ConsentDesk(settings: asking, prompts: prompts, events: events) { record in
            do throws(AgentError) { try await audit.append(record) } catch {
                onAuditFailure(error)
                throw error
            }
        }
        sharing = Sharing(
            radio: self.radio, desk: desk, settings: settings, patience: patience, deviceName: deviceName,
            events: events)
        logIn = NearbyLogin(
            radio: self.radio, settings: settings, plan: configuration.pollingPlan, deviceName: deviceName,
            events: events)
    }

    /// The state of the adapter.
    package func adapter() async -> AdapterStatus { await radio.status() }

    package var isSharing: Bool { get async { await sharing.isUnderWay } }

    /// Ends sharing, if active; devices waiting for consent are notified.
    package func stopSharing(by source: Answerer) async { await sharing.stop(by: source) }

    /// Lets in the device whose QR code was scanned, after consent.
    package func authorize(scanned text: String, name: String?, by session: GatewaySession) async throws {
        try await SessionAuthorizer(gateway: SessionGateway(ofUserAt: session), desk: desk, events: events)
            .authorize(scanned: text, name: name)
    }

    package func report() async -> JSON {
        var report = await sharing.report
        report["consents"] = .array(await desk.pending.map { .object($0.details) })
        report["ambiguous"] = .bool(await desk.light == .ambiguous)
        report["bluetooth"] = await adapter().json
        return .object(report)
    }

    /// Ends everything; no device is let in afterwards.
    package func close() async {
        await sharing.stop(by: .agent)
        await radio.close()
        await logIn.disconnected()
        sharing.ends.finish()
        events.finish()
    }
}

extension AuditLog {
    /// - Throws: ``AgentError/stateDirectory(path:reason:)``
    func append(_ record: AuditRecord) throws(AgentError) {
        try append(record.json, isRefusal: record.outcome == .refused)
    }
}
