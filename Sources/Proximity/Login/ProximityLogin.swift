import Bluetooth
import Groundwork

/// Logs this device in with the session of another one nearby, over Bluetooth (MAG 8.2 to 8.4).
public actor ProximityLogin {
    private let transport: any BluetoothTransport
    private let gateway: any ProximityGateway
    private let settings: ProximityLoginSettings
    private let clock: any ProximityClock
    private let events: Broadcast<ProximityEvent>
    private var isRunning = false
    /// Ends the connection to the device that authorized this one.
    private var disconnecting: Task<Void, Never>?
    private var connected: (link: any RemotePeripheral, address: String)?

    public init(
        transport: any BluetoothTransport, gateway: any ProximityGateway, settings: ProximityLoginSettings,
        clock: any ProximityClock = SystemClock(), events: Broadcast<ProximityEvent>
    ) {
        self.transport = transport
        self.gateway = gateway
        self.settings = settings
        self.clock = clock
        self.events = events
    }

    /// Runs until a user is logged in, a final failure, or the end of the time. Cancel the task to stop it.
    ///
    /// Returns before the connection has ended, which takes seconds through bluetoothd; see ``disconnected()``.
    ///
    /// - Returns: the name of the user.
    /// - Throws: ``ProximityError``, what the gateway throws, `CancellationError`
    public func run() async throws -> String {
        guard !isRunning else { throw ProximityError.loginInProgress }
        isRunning = true
        defer { isRunning = false }
        do {
            let userName = try await logIn()
            events.send(.loginSucceeded(userName: userName))
            disconnectInBackground()
            return userName
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            events.send(.loginFailed(error as? ProximityError ?? .loginFailed(reason: error.reason)))
            throw error
        }
    }

    /// Waits until the connection of the successful login has ended.
    public func disconnected() async { await disconnecting?.value }

    /// Ends the connection in the background, after the login's result is reported.
    private func disconnectInBackground() {
        guard let remote = connected else { return }
        connected = nil
        disconnecting = Task { [events] in
            await remote.link.close()
            events.send(.deviceDisconnected(address: remote.address))
        }
    }

    private func logIn() async throws -> String {
        let deadline = clock.now + settings.limit
        let pending = try await gateway.beginAuthorization()
        guard let request = ProximityRequest(providerURL: pending.authURL, deviceName: settings.deviceName) else {
            throw ProximityError.invalidAuthenticationURL
        }
        var failed: [BluetoothAddress: Int] = [:]
        var lastFailure: ProximityError?
        while true {
            let devices: [SignalBoard.Device]
            do {
                let scan = NearestScan(transport: transport, settings: settings, clock: clock, events: events)
                devices = try await scan.run(until: deadline, without: Set(failed.filter { $0.value > 1 }.keys))
            } catch ProximityError.noPeripheralFound(let least) {
                throw lastFailure ?? .noPeripheralFound(leastSignal: least)
            }
            for device in devices {
                try Task.checkCancellation()
                do throws(DeviceFailure) {
                    return try await logIn(by: device, request, pending, until: deadline)
                } catch {
                    // An answer of the other device or the gateway is final; an unreachable device is not.
                    switch error {
                    case .final(let cause): throw cause
                    case .unreachable(let reason):
                        try Task.checkCancellation()
                        events.send(.deviceFailed(address: "\(device.address)", reason))
                        failed[device.address, default: 0] += 1
                        lastFailure = reason
                    }
                }
            }
        }
    }

    private func logIn(
        by device: SignalBoard.Device, _ request: ProximityRequest, _ pending: PendingAuthorization,
        until deadline: Duration
    ) async throws(DeviceFailure) -> String {
        let address = "\(device.address)"
        let remote: any RemotePeripheral
        do throws(BluetoothError) {
            let time = min(settings.connectionTimeout, deadline - clock.now)
            guard time > .zero else { throw BluetoothError.timedOut(operation: "proximity login") }
            remote = try await transport.connect(to: device.address, timeout: time)
        } catch {
            throw .unreachable(ProximityError(error) { .centralFailed(reason: $0) })
        }
        events.send(.deviceConnected(address: address))
        let conversation = Conversation(
            remote: remote, address: address, settings: settings, clock: clock, events: events)
        do throws(DeviceFailure) {
            let userName = try await conversation.logIn(request, pending, until: deadline)
            connected = (remote, address)
            return userName
        } catch {
            await remote.close()
            events.send(.deviceDisconnected(address: address))
            throw error
        }
    }
}

/// Why a login with one device failed.
enum DeviceFailure: Error {
    /// The device did not get the whole request: another device may be tried.
    case unreachable(ProximityError)
    /// The device or the gateway has answered.
    case final(any Error)
}
