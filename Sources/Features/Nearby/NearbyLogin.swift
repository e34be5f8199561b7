import AgentCore
import Bluetooth
import Gateway
import Groundwork
import Proximity

/// Logs a user in on this board with the session of a device nearby, one login at a time.
package final actor NearbyLogin {
    private let radio: Radio
    private let settings: ProximitySettings
    private let deviceName: String
    private let events: Broadcast<ProximityEvent>
    private let plan: PollingPlan
    private var isUnderWay = false
    private var showing: (login: QRLogin, text: String?)?
    /// Whether another program ended the login by the code that is shown.
    private var isStopped = false
    /// Ends the connection of the last login.
    private var disconnecting: Task<Void, Never>?

    /// - Parameter plan: when the gateway is asked whether a shown code was scanned.
    package init(
        radio: Radio, settings: ProximitySettings, plan: PollingPlan, deviceName: String,
        events: Broadcast<ProximityEvent>
    ) {
        (self.radio, self.settings, self.deviceName, self.events) = (radio, settings, deviceName, events)
        self.plan = plan
    }

    /// Logs in by Bluetooth.
    ///
    /// - Parameter expected: the user who has to let this board in; `nil` for any user.
    package func byBluetooth(at session: GatewaySession, as expected: String? = nil) async throws -> String {
        try begin()
        defer { isUnderWay = false }
        let parameters = session.configuration.proximity
        let (service, characteristic) = try parameters.identifiers()
        var login = try ProximityLoginSettings(serviceUUID: service, characteristicUUID: characteristic)
        login.deviceName = deviceName
        login.leastSignal = settings.leastSignal != 0 ? settings.leastSignal : parameters.leastSignalStrength
        // A device cannot be connected to while its last connection is ending.
        await disconnecting?.value
        let logIn = ProximityLogin(
            transport: await radio.transport(), gateway: SessionGateway(session: session, expectedUser: expected),
            settings: login,
            events: events)
        let userName = try await logIn.run()
        disconnecting = Task { await logIn.disconnected() }
        return userName
    }

    /// Logs in by a QR code that a device with a session scans.
    ///
    /// - Parameters:
    ///   - expected: the user who has to let this board in; `nil` for any user.
    ///   - show: called with the text of the code.
    package func byQRCode(
        at session: GatewaySession, as expected: String? = nil, show: @escaping @Sendable (String) async throws -> Void
    ) async throws -> String {
        try begin()
        defer { isUnderWay = false }
        let login = QRLogin(
            gateway: SessionGateway(session: session, expectedUser: expected), plan: plan, events: events)
        (showing, isStopped) = ((login, nil), false)
        defer { showing = nil }
        do {
            return try await login.run { text in
                await self.note(text)
                try await show(text)
            }
        } catch is CancellationError where isStopped {
            throw AgentError.logInStopped
        }
    }

    private func note(_ text: String) { showing?.text = text }

    /// The text of the code that is shown now, for other programs; `nil` if none is.
    package var shownCode: String? { showing?.text }

    /// Ends the login by the code that is shown, also one of another program.
    ///
    /// - Returns: whether there was one.
    package func stopShowing() async -> Bool {
        guard let showing else { return false }
        isStopped = true
        await showing.login.stop()
        return true
    }

    /// One at a time: the radio has one scan, and the reported steps are those of one login.
    private func begin() throws(ProximityError) {
        guard !isUnderWay else { throw .loginInProgress }
        isUnderWay = true
    }

    /// Returns when the connection of the last login has ended.
    package func disconnected() async { await disconnecting?.value }
}

extension GatewayConfiguration.ProximityParameters {
    /// The identifiers by which a gateway's devices find each other.
    ///
    /// - Throws: ``AgentError/noProximityService``
    package func identifiers() throws(AgentError) -> (service: String, characteristic: String) {
        guard let serviceUUID, let characteristicUUID else { throw .noProximityService }
        return (serviceUUID, characteristicUUID)
    }
}
