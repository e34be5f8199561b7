import Foundation
import Groundwork

/// The actions of administrators and tests.
extension Lab {
    /// A URL that gives the configuration once (MAG 2).
    /// - Parameter master: client id of the master client; `nil` means the first.
    /// - Throws: `LabError.noSuch`
    public func mintEnrollmentURL(for master: String? = nil) async throws -> String {
        let master = try masterClient(master)
        let url = try await store.change { try $0.mintEnrollmentURL(for: master, now: clock.now) }
        journal.record(.enrollment, "enrollment URL minted for client \(master.clientID)", at: clock.now)
        return url
    }

    /// The document that an enrollment URL gives (MAG 1.1).
    /// - Throws: `LabError.noSuch`
    public func configurationDocument(for master: String? = nil) async throws -> [UInt8] {
        let master = try masterClient(master)
        return await store.read { $0.configurationDocument(for: master).bytes }
    }

    private func masterClient(_ id: String?) throws -> MasterClient {
        let found = configuration.masterClients.first { id == nil || $0.clientID == id }
        guard let found else { throw LabError.noSuch(thing: "master client", name: id ?? "at all") }
        return found
    }

    /// Ordered by the time they registered.
    public func devices() async -> [LabDevice] {
        await store.read { $0.state.devices.values.sorted { $0.registeredAt < $1.registeredAt } }
    }

    /// Ordered by the time they were issued; includes those that expired within the last day.
    public func accessTokens() async -> [LabAccessToken] {
        await store.read { $0.state.accessTokens.values.sorted { $0.issuedAt < $1.issuedAt } }
    }

    /// Activates a pending device.
    /// - Throws: `LabError.noSuch`
    public func activate(magIdentifier: String) async throws {
        try await change(magIdentifier, "activated") { $0.state.devices[magIdentifier]?.status = .active }
    }

    /// Removes a device, as if it had removed itself.
    /// - Throws: `LabError.noSuch`
    public func removeDevice(magIdentifier: String) async throws {
        try await change(magIdentifier, "removed by an administrator") { $0.removeDevice(magIdentifier) }
    }

    private func change(_ magIdentifier: String, _ what: String, _ body: @Sendable (inout GatewayCore) -> Void)
        async throws
    {
        try await store.change { core in
            guard core.state.devices[magIdentifier] != nil else {
                throw LabError.noSuch(thing: "device", name: magIdentifier)
            }
            body(&core)
        }
        journal.record(.device, what, magIdentifier: magIdentifier, at: clock.now)
    }

    /// Revokes every token of a device, or of all devices: access tokens are then answered with an `x-ca-err` ending
    /// in 990.
    public func revokeTokens(of magIdentifier: String? = nil) async throws {
        try await store.change { $0.state.revokeTokens { mag, _ in magIdentifier == nil || mag == magIdentifier } }
        journal.record(.token, "tokens revoked by an administrator", magIdentifier: magIdentifier, at: clock.now)
    }

    /// Keeps the access tokens, but answers calls with them with an `x-ca-err` ending in 993.
    public func disableTokens(of magIdentifier: String? = nil) async throws {
        try await store.change { core in
            for (value, token) in core.state.accessTokens
            where magIdentifier == nil || token.magIdentifier == magIdentifier {
                core.state.accessTokens[value]?.isDisabled = true
            }
        }
        journal.record(.token, "tokens disabled by an administrator", magIdentifier: magIdentifier, at: clock.now)
    }

    /// Revokes refresh tokens but keeps access tokens.
    public func revokeRefreshTokens(of magIdentifier: String? = nil) async throws {
        try await store.change { core in
            core.state.refreshTokens = core.state.refreshTokens.filter { _, token in
                magIdentifier != nil && token.magIdentifier != magIdentifier
            }
        }
        journal.record(
            .token, "refresh tokens revoked by an administrator", magIdentifier: magIdentifier, at: clock.now)
    }

    /// Forgets all dynamic client credentials: their next use is answered with an `x-ca-err` ending in 201.
    public func forgetClientCredentials() async throws {
        try await store.change { $0.state.instances = [:] }
        journal.record(.token, "all client credentials forgotten", at: clock.now)
    }

    /// Moves the lab's clock, so that issued tokens and certificates expire without waiting. The broker's TLS uses
    /// the system's time.
    public func advanceClock(by duration: Duration) {
        clock.advance(by: duration)
        journal.record(.lab, "clock moved by \(duration)", at: clock.now)
    }

    public func inject(_ fault: Fault) {
        faults.inject(fault)
        journal.record(.fault, "fault set: \(fault.kind)", endpoint: fault.endpoint, at: clock.now)
    }

    public func clearFaults() {
        faults.clear()
        journal.record(.fault, "faults cleared", at: clock.now)
    }

    /// Shows another certificate from the next connection on; open connections are closed.
    /// - Throws: ``LabError``
    public func show(_ face: ServerFace) async throws {
        try await servers.show(face)
        journal.record(.fault, "server face: \(face.rawValue)", at: clock.now)
    }

    /// Closes the gateway's port and its connections; the lab keeps its state.
    public func suspend() async {
        await servers.closeGateway()
        journal.record(.fault, "gateway stopped", at: clock.now)
    }

    /// Listens again on the same port.
    /// - Throws: ``LabError``
    public func resume() async throws {
        _ = try await servers.openGateway()
        journal.record(.fault, "gateway started again", at: clock.now)
    }

    /// - Parameter abruptly: kills it, so that it cannot save its state.
    public func stopBroker(abruptly: Bool = false) async {
        await servers.broker?.stop(abruptly: abruptly)
        journal.record(.fault, abruptly ? "broker killed" : "broker stopped", at: clock.now)
    }

    /// On the same port as before.
    /// - Throws: ``LabError``
    public func startBroker() async throws {
        _ = try await servers.startBroker()
        journal.record(.fault, "broker started", at: clock.now)
    }

    /// Lets the broker hang: its connections stay open and nothing is answered.
    public func suspendBroker() async {
        await servers.broker?.suspend()
        journal.record(.fault, "broker suspended", at: clock.now)
    }

    public func resumeBroker() async {
        await servers.broker?.resume()
        journal.record(.fault, "broker resumed", at: clock.now)
    }
}

/// Observing a lab.
extension Lab {
    /// Requests answered or dropped since the start or ``resetCounts()``.
    public var requestCounts: [Endpoint: Int] { journal.counts }
    /// TCP connections that the gateway's port accepted in the same time.
    public var connections: Int { servers.connections.accepted }

    public func resetCounts() {
        journal.resetCounts()
        servers.connections.resetCount()
    }

    /// The last events, oldest first; bounded.
    public var log: [LabEvent] { journal.events }
    /// Events as they happen; ends when the lab stops.
    public var events: Broadcast<LabEvent> { journal.broadcast }
    /// Messages that the broker passed on, oldest first; bounded.
    public var messages: [LabMessage] { journal.messages }
    /// Messages as the broker passes them on; ends when the lab stops.
    public var arrivals: Broadcast<LabMessage> { journal.arrivals }
    /// Connected MQTT client ids, with the time at which they connected.
    public var brokerSessions: [String: Date] {
        get async { await servers.broker?.gate.sessions ?? [:] }
    }
    /// The certificate that the gateway shows at present.
    public var face: ServerFace {
        get async { await servers.face }
    }
    /// The active faults, in the order they were set.
    public var activeFaults: [Fault] { faults.all }
}
