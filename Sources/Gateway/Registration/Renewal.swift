import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import Synchronization

/// Renewal of the device certificate, endpoint E6 (MAG 4.6).
final class Renewal: Sendable {
    /// What is known of failed attempts.
    private struct Failures: Sendable {
        /// The longest pause with an ended certificate, with which nothing else succeeds either.
        static let longestAfterEnd = Duration.seconds(300)

        var backoff = Backoff(initial: .seconds(60), cap: .seconds(6 * 3600))
        var pause: RenewalPause?
        /// The uptime until which a certificate is not asked for that the gateway refused, whatever this clock says.
        var endAfterRefusal = Duration.zero
        /// Why the last one failed.
        var reason: GatewayError?

        mutating func note(_ error: GatewayError, hasEnded: Bool, at uptime: Duration) {
            if hasEnded != pause?.hadEnded { backoff.reset() }
            let delay = backoff.next()
            pause = RenewalPause(
                end: uptime + (hasEnded ? min(delay, Self.longestAfterEnd) : delay), hadEnded: hasEnded)
            reason = error
        }

        mutating func noteAfterRefusal(_ error: GatewayError, at uptime: Duration) {
            endAfterRefusal = uptime + min(backoff.next(), Self.longestAfterEnd)
            reason = error
        }

        func isPausedAfterRefusal(_ device: Device, at now: Moment) -> Bool {
            if now.uptime < endAfterRefusal { return true }
            // By this clock it has ended, too, and was asked for before the call.
            return pause.map { $0.hadEnded && $0.holds(for: device, at: now) } ?? false
        }
    }

    private let store: HoldingsStore
    private let exchange: GatewayExchange
    /// How long before its expiry the certificate is renewed, in seconds.
    private let window: TimeInterval
    private let failures = Mutex(Failures())

    init(store: HoldingsStore, exchange: GatewayExchange, window: TimeInterval) {
        self.store = store
        self.exchange = exchange
        self.window = window
    }

    var terms: RenewalTerms { RenewalTerms(window: window, pause: failures.withLock(\.pause)) }

    /// Automatic renewal before a call. A failure that keeps the registration does not stop the call; it is reported,
    /// and the renewal tried again after a growing pause.
    func renewWhenDue(in operation: borrowing Operation) async throws {
        do {
            try await renew(in: operation)
        } catch let error as GatewayError {
            if case .refused = error { throw error }
            let now = store.clocks.now
            let hasEnded = try await store.holdings().device?.hasEnded(at: now.date) ?? false
            failures.withLock { $0.note(error, hasEnded: hasEnded, at: now.uptime) }
        }
    }

    /// Renewal after the gateway refused the certificate as ended. While that is paused, this fails as it did.
    func renewAfterRefusal(in operation: borrowing Operation) async throws {
        let (now, known) = (store.clocks.now, failures.withLock { $0 })
        if let device = try await store.holdings().device, let reason = known.reason,
            known.isPausedAfterRefusal(device, at: now)
        {
            throw reason
        }
        do {
            try await renew(in: operation)
        } catch let error as GatewayError {
            if case .refused = error { throw error }
            let uptime = store.clocks.uptime()
            failures.withLock { $0.noteAfterRefusal(error, at: uptime) }
            throw error
        }
    }

    /// Ends a pause that there is because the gateway could not be reached.
    func networkDidChange() {
        failures.withLock { known in
            if case .noAnswer = known.reason { known = Failures() }
        }
    }

    /// Renews now, whatever the certificate's dates. The renewed certificate is on disk before it is tested, and in use
    /// once a connection with it has succeeded.
    ///
    /// - Throws: after ``GatewayError/refused(_:)`` the registration is gone (MAG checklist 19).
    func renew(in operation: borrowing Operation) async throws {
        guard let device = try await store.holdings().device else { throw GatewayError.notRegistered }
        store.events.send(.deviceWillRenew(notAfter: device.leaf.notAfter))
        do {
            if device.renewedChain.isEmpty { try await requestChain(for: device, in: operation) }
            try await proveRenewedChain(in: operation)
        } catch let error as GatewayError {
            store.events.send(.deviceDidFailToRenew(error))
            if case .refused(let refusal) = error { try await endRegistration(after: refusal, in: operation) }
            throw error
        }
        failures.withLock { $0 = Failures() }
    }

    private func requestChain(for device: Device, in operation: borrowing Operation) async throws {
        killPoint("renewal-begun")
        let request = try await exchange.request(
            "PUT", at: store.configuration.path(of: .renew), headers: ["cert-format": "pem", "Accept": "text/plain"])
        let response = try await exchange.send(request, for: .renewCertificate)
        killPoint("renewal-answered")
        switch RenewalPolicy.judge(response) {
        case .renewed: break
        case .refused(let refusal): throw GatewayError.refused(refusal)
        case .inconclusive:
            let words =
                Refusal(response, to: .renewCertificate)
                .map { "x-ca-err \($0.code), a failure of the server" } ?? "without the gateway's x-ca-err"
            throw GatewayError.unexpectedAnswer(.renewCertificate, status: response.status, reason: words)
        }
        do {
            let chain = try CertificateAnswer.chain(response.body, for: device.leaf.publicKey)
            guard chain[0].notAfter > store.clocks.date() else {
                throw AnswerFault("its certificate has ended already")
            }
            try await store.update(in: operation) { $0.device?.renewedChain = chain }
            killPoint("renewal-kept")
        } catch let fault as AnswerFault {
            throw GatewayError.unexpectedAnswer(.renewCertificate, status: response.status, reason: fault.reason)
        }
    }

    /// Makes a real connection with the renewed certificate, for a harmless request: the discovery document.
    private func proveRenewedChain(in operation: borrowing Operation) async throws {
        let held = try await store.holdings()
        guard var device = held.device else { throw GatewayError.notRegistered }
        device.chain = device.renewedChain
        device.renewedChain = []
        device.renewedAt = store.clocks.date()
        var request = try exchange.publicRequest("GET", GatewayEndpoint.discoveryPath).request
        request.identity = held.identity(of: device)
        if let reason = try await refusalOfIdentity(request) {
            try await store.update(in: operation) { $0.device?.renewedChain = [] }
            throw GatewayError.renewedCertificateRefused(reason: reason)
        }
        killPoint("renewal-proven")
        try await store.update(in: operation) { [device] in $0.device = device }
        killPoint("renewal-committed")
        exchange.client.forgetConnections()
        store.events.send(.deviceDidRenew(notAfter: device.leaf.notAfter))
    }

    /// - Returns: why the gateway does not accept the identity; `nil` when it does.
    /// - Throws: ``GatewayError/noAnswer(_:_:)`` when that cannot be determined now.
    private func refusalOfIdentity(_ request: HTTPRequest) async throws -> String? {
        do {
            let response = try await exchange.send(request, for: .renewCertificate)
            guard let refusal = Refusal(response, to: .renewCertificate), refusal.suffix == 206 else { return nil }
            return "x-ca-err \(refusal.code)"
        } catch GatewayError.noAnswer(_, .clientCertificateRefused(let host, let alert)) {
            return HTTPError.clientCertificateRefused(host: host, alert: alert).message
        }
    }

    private func endRegistration(after refusal: Refusal, in operation: borrowing Operation) async throws {
        let configuration = store.configuration
        try await store.update(in: operation) { $0.endRegistration(after: refusal, configuration) }
        exchange.client.forgetConnections()
        store.events.send(.registrationDidDrop(refusal))
    }
}
