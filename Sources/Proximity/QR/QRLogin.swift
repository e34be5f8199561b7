import Groundwork

/// Logs this device in by a QR code that a logged-in device scans (MAG 7.3).
public actor QRLogin {
    private let gateway: any ProximityGateway
    private let plan: PollingPlan
    private let clock: any ProximityClock
    private let events: Broadcast<ProximityEvent>
    private var waiting: Task<String, any Error>?

    public init(
        gateway: any ProximityGateway, plan: PollingPlan = PollingPlan(), clock: any ProximityClock = SystemClock(),
        events: Broadcast<ProximityEvent>
    ) {
        self.gateway = gateway
        self.plan = plan
        self.clock = clock
        self.events = events
    }

    /// Shows the code and waits until it is authorized, all planned polls are done, ``stop()`` is called, or the task
    /// is canceled.
    ///
    /// - Parameter show: called with the text of the code, the gateway's `auth_url` verbatim, to draw it as ``QRCode``.
    /// - Returns: the name of the user.
    /// - Throws: ``ProximityError``, what the gateway throws, `CancellationError`
    public func run(show: @escaping @Sendable (String) async throws -> Void) async throws -> String {
        guard waiting == nil else { throw ProximityError.loginInProgress }
        let task = Task { try await self.logIn(show) }
        waiting = task
        defer { waiting = nil }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Ends the current login, which throws `CancellationError`.
    public func stop() { waiting?.cancel() }

    private func logIn(_ show: @Sendable (String) async throws -> Void) async throws -> String {
        do {
            let pending = try await gateway.beginAuthorization()
            guard ProximityRequest(providerURL: pending.authURL, deviceName: nil) != nil else {
                throw ProximityError.invalidAuthenticationURL
            }
            let spend = try await wait(for: pending, show)
            events.send(.authorizationCodeReceived)
            let userName = try await spend()
            events.send(.loginSucceeded(userName: userName))
            return userName
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            let failure = error as? ProximityError ?? .loginFailed(reason: error.reason)
            events.send(.authorizationErrorReceived(failure))
            events.send(.loginFailed(failure))
            throw error
        }
    }

    private func wait(
        for pending: PendingAuthorization, _ show: @Sendable (String) async throws -> Void
    ) async throws -> AuthorizationWatch.Login {
        try await show(pending.authURL)
        let start = clock.now
        events.send(.qrCodeShown(seconds: Int((plan.end(from: start) - start).components.seconds)))
        defer { events.send(.qrCodeHidden) }
        let watch = AuthorizationWatch(pending: pending, plan: plan, clock: clock, events: events)
        do {
            return try await watch.wait(until: plan.end(from: start))
        } catch ProximityError.pollingFailed(let reason) {
            throw ProximityError.qrPollingFailed(reason: reason)
        }
    }
}
