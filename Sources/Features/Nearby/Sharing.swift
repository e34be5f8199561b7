import AgentCore
import Bluetooth
import Gateway
import Groundwork
import Prompts
import Proximity

/// Offers the session of the user who is logged in to devices nearby, one offer at a time.
package final actor Sharing {
    /// Notifies subscribers that sharing has ended and may begin again.
    package nonisolated let ends = Broadcast<SharingEnd>()
    /// Whether devices nearby can find this board just now.
    package nonisolated let onAir = AsyncCondition(false)

    private let radio: Radio
    private let desk: ConsentDesk
    private let settings: ProximitySettings
    private let patience: Patience
    private let deviceName: String
    private let events: Broadcast<ProximityEvent>
    private var offer: Offer?

    package struct Patience {
        /// How long a caller that starts sharing waits for the adapter.
        package var adapter = Duration.seconds(10)
        /// How long a radio may take to disconnect.
        package var farewell = Duration.seconds(5)
    }

    private struct Offer {
        let service: SharingService
        let gateway: SessionGateway
        let term: SharingTerm
        let task: Task<Void, Never>
    }

    package init(
        radio: Radio, desk: ConsentDesk, settings: ProximitySettings, patience: Patience, deviceName: String,
        events: Broadcast<ProximityEvent>
    ) {
        (self.radio, self.desk, self.settings, self.patience) = (radio, desk, settings, patience)
        (self.deviceName, self.events) = (deviceName, events)
    }

    package var isUnderWay: Bool { offer != nil }

    /// The session that lets others in, while sharing.
    package var gateway: SessionGateway? { offer?.gateway }

    /// Begins to offer the logged-in user's session to devices nearby.
    ///
    /// - Returns: once it is on the air; endless sharing may still wait for its adapter.
    /// - Throws: `ProximityError`, ``AgentError/noProximityService``
    package func begin(_ term: SharingTerm, of session: GatewaySession) async throws {
        guard !session.isStopped else { throw GatewayError.stopped }
        let gateway = try await SessionGateway(ofUserAt: session)
        let service = SharingService(
            transport: await radio.transport(), gateway: gateway, desk: desk,
            settings: try serviceSettings(session.configuration.proximity), events: events)
        // Another caller may have begun in the meantime.
        guard offer == nil else { throw ProximityError.sharingInProgress }
        let (outcomes, outcome) = AsyncStream.makeStream(
            of: Result<Void, ProximityError>.self, bufferingPolicy: .bufferingOldest(1))
        let proximityEvents = events.subscribe()
        let watching = Task {
            var givingUp: Task<Void, Never>?
            for await event in proximityEvents {
                switch event {
                case .sharingStarted:
                    onAir.change { $0 = true }
                    outcome.yield(.success(()))
                case .sharingInterrupted(let reason):
                    onAir.change { $0 = false }
                    // Endless sharing waits for its adapter; other sharing fails unless the adapter comes soon.
                    if term == .endless { outcome.yield(.success(())) }
                    if givingUp == nil {
                        givingUp = Task { [patience] in
                            guard (try? await Task.sleep(for: patience.adapter)) != nil else { return }
                            outcome.yield(.failure(.interrupted(reason: reason)))
                        }
                    }
                case .scanStarted, .scanStopped, .deviceDetected, .deviceTooFar, .deviceConnected, .deviceFailed,
                    .deviceDisconnected, .serviceDiscovered, .characteristicFound, .requestWritten, .polled,
                    .loginSucceeded, .loginFailed, .qrCodeShown, .qrCodeHidden, .authorizationCodeReceived,
                    .authorizationErrorReceived, .sharingStopped, .centralConnected, .centralDisconnected,
                    .centralSubscribed, .centralUnsubscribed, .centralHungUp, .requestReceived, .requestRefused,
                    .consentAsked, .consentAnswered, .consentAmbiguous, .consentUnambiguous, .sessionAuthorized,
                    .sessionNotAuthorized, .sessionNotified, .sessionNotNotified, .sharingEndRequested, .buttonFault,
                    .buttonRecovered:
                    break
                }
            }
            givingUp?.cancel()
        }
        let task = Task {
            let ending: Result<SharingEnd, ProximityError>
            do throws(ProximityError) { ending = .success(try await service.run(term)) } catch {
                ending = .failure(error)
            }
            watching.cancel()
            await watching.value
            onAir.change { $0 = false }
            // Before the end is reported: a subscriber may begin again at once.
            offer = nil
            switch ending {
            case .success(let end): ends.send(end)
            case .failure(let error): outcome.yield(.failure(error))
            }
            outcome.finish()
        }
        offer = Offer(service: service, gateway: gateway, term: term, task: task)
        for await outcome in outcomes {
            if case .failure = outcome, offer?.service === service { await stop(by: .agent) }
            return try outcome.get()
        }
        // The caller was canceled, or another one ended the sharing.
        if Task.isCancelled {
            await stop(by: .agent)
            throw CancellationError()
        }
        throw ProximityError.advertisingFailed(reason: "it was ended before it began")
    }

    /// Ends sharing, if active; devices waiting for consent are notified.
    package func stop(by source: Answerer) async {
        guard let offer else { return }
        await desk.endSharing(by: source)
        await offer.service.stop()
        // Notifying waiting devices takes seconds; a radio that does not respond gets no more time.
        let insisting = Task { [patience] in
            if (try? await Task.sleep(for: patience.farewell)) != nil { offer.task.cancel() }
        }
        await offer.task.value
        insisting.cancel()
    }

    /// Lets devices pair for a while, if only bonded ones may ask.
    ///
    /// - Throws: ``AgentError/badRequest(member:fault:)``, `BluetoothError`
    package func openPairing(for duration: Duration) async throws {
        guard settings.requireEncryption else {
            throw AgentError.badRequest(
                member: "pairing", fault: "is not needed, as proximity.require_encryption is false")
        }
        guard isUnderWay else {
            throw AgentError.badRequest(member: "pairing", fault: "requires a shared session: latchkey share")
        }
        try await radio.transport().openPairing(for: duration)
    }

    private func serviceSettings(_ parameters: GatewayConfiguration.ProximityParameters) throws -> SharingSettings {
        let (service, characteristic) = try parameters.identifiers()
        var sharing = try SharingSettings(serviceUUID: service, characteristicUUID: characteristic)
        sharing.localName = deviceName
        sharing.requiresEncryption = settings.requireEncryption
        sharing.limits.requestsPerMinute = settings.requestsPerMinute
        return sharing
    }

    /// The state of sharing, as members of a report.
    package var report: [String: JSON] {
        var report: [String: JSON] = [
            "sharing": .bool(isUnderWay), "onAir": .bool(onAir.read { $0 }),
            "policy": .string(settings.share.rawValue),
        ]
        if let offer { report["term"] = .string(offer.term.name) }
        return report
    }
}

extension SharingTerm {
    /// The name for programs.
    fileprivate var name: String {
        switch self {
        case .once: "once"
        case .lasting: "lasting"
        case .endless: "endless"
        }
    }
}
