import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient

/// Renewal of the device certificate, E6 (MAG 4.6).
extension GatewaySession {
    /// Renews now, whatever the certificate's dates.
    ///
    /// - Throws: ``GatewayError``. After ``GatewayError/refused(_:)`` the registration is gone (MAG checklist 19); after any other the
    ///   old certificate stays in use.
    public func renew() async throws {
        try await operations.join(.renew) { try await self.noted { try await self.renewCertificate() } }
    }

    func isRenewalDue(_ holdings: Holdings) -> Bool {
        guard let device = holdings.device else { return false }
        // A certificate that has ended is of no use, so each use tries; how often there is one, its user decides.
        if let renewalNotBefore, uptime() < renewalNotBefore, device.leaf.notAfter > clock() { return false }
        return !holdings.renewedChain.isEmpty || RenewalPolicy.isDue(device, at: clock(), window: renewalWindow)
    }

    /// Inside an operation: renewal by the agent itself, before a call. A failure that leaves the registration as it is
    /// does not stop the call; it is told, and tried again after a growing pause.
    func renewWhenDue() async throws {
        do {
            try await renewCertificate()
        } catch let error as GatewayError {
            if case .refused = error { throw error }
            renewalNotBefore = uptime() + renewalPause.next()
        }
    }

    /// Inside an operation. The renewed certificate is on disk before it is tried, and in use once it has proven itself.
    func renewCertificate() async throws {
        guard let device = try await holdings().device else { throw GatewayError.notRegistered }
        events.send(.deviceWillRenew(notAfter: device.leaf.notAfter))
        do {
            if try await holdings().renewedChain.isEmpty { try await requestRenewal(of: device) }
            try await proveRenewedChain()
        } catch let error as GatewayError {
            events.send(.deviceDidFailToRenew(error))
            if case .refused(let refusal) = error { try await dropRegistration(after: refusal) }
            throw error
        }
        renewalPause.reset()
        renewalNotBefore = nil
    }

    private func requestRenewal(of device: Device) async throws {
        killPoint("renewal-begun")
        let request = try await request("PUT", .renew, headers: ["cert-format": "pem", "Accept": "text/plain"])
        let response = try await send(request, for: .renewCertificate)
        killPoint("renewal-answered")
        switch RenewalPolicy.judge(response) {
        case .renewed: break
        case .refused(let refusal): throw GatewayError.refused(refusal)
        case .noWord:
            let words =
                Refusal(response, to: .renewCertificate)
                .map { "x-ca-err \($0.code), a failure of the server" } ?? "without the gateway's x-ca-err"
            throw GatewayError.unexpectedAnswer(.renewCertificate, status: response.status, reason: words)
        }
        do {
            let chain = try CertificateAnswer.chain(response.body, for: device.key.publicKey)
            guard chain[0].notAfter > clock() else { throw AnswerFault("its certificate has ended already") }
            var next = try await holdings()
            next.renewedChain = chain
            try await commit(next)
            killPoint("renewal-kept")
        } catch let fault as AnswerFault {
            throw GatewayError.unexpectedAnswer(.renewCertificate, status: response.status, reason: fault.reason)
        }
    }

    /// Makes a real connection with the renewed certificate, to a place that harms nothing: the discovery document.
    private func proveRenewedChain() async throws {
        var next = try await holdings()
        guard var device = next.device else { throw GatewayError.notRegistered }
        device.chain = next.renewedChain
        device.renewedAt = clock()
        var request = try publicRequest("GET", GatewayEndpoint.discoveryPath)
        request.identity = device.identity
        if let reason = try await refusalOfIdentity(request) {
            next.renewedChain = []
            try await commit(next)
            throw GatewayError.renewedCertificateRefused(reason: reason)
        }
        killPoint("renewal-proven")
        next.device = device
        next.renewedChain = []
        try await commit(next)
        killPoint("renewal-committed")
        client.forgetConnections()
        events.send(.deviceDidRenew(notAfter: device.leaf.notAfter))
    }

    /// - Returns: why the gateway does not take the identity; `nil` when it does.
    /// - Throws: ``GatewayError/noAnswer(_:_:)`` when that cannot be told now.
    private func refusalOfIdentity(_ request: HTTPRequest) async throws -> String? {
        do {
            let response = try await send(request, for: .renewCertificate)
            guard let refusal = Refusal(response, to: .renewCertificate), refusal.suffix == 206 else { return nil }
            return "x-ca-err \(refusal.code)"
        } catch GatewayError.noAnswer(_, .clientCertificateRefused(let host, let alert)) {
            return HTTPError.clientCertificateRefused(host: host, alert: alert).message
        }
    }

    /// The row "renew failed" of 12.4. The board registers anew, except when the gateway does not know the device any more:
    /// whoever removed it there does not want it back by itself (MAG checklist 26).
    private func dropRegistration(after refusal: Refusal) async throws {
        let isRemoved = refusal.meaning == .deviceUnknown
        var next = try await holdings()
        next.clearAll(rest: isRemoved ? .withdrawn(code: refusal.code) : nil)
        next.adopt(configuration)
        try await commit(next)
        client.forgetConnections()
        events.send(.registrationDidDrop(refusal))
    }
}
