import Groundwork

/// Authorizes other devices with this device's user session, after consent.
public struct SessionAuthorizer: Sendable {
    let gateway: any ProximityGateway
    let desk: ConsentDesk
    let events: Broadcast<ProximityEvent>

    public init(gateway: any ProximityGateway, desk: ConsentDesk, events: Broadcast<ProximityEvent>) {
        self.gateway = gateway
        self.desk = desk
        self.events = events
    }

    /// Authorizes the device that shows the QR code that was scanned here (MAG 7.3). Checks the origin before asking
    /// anyone.
    ///
    /// - Parameter text: the content of the code, a URL or JSON with one.
    /// - Throws: ``ProximityError``
    public func authorize(scanned text: String, name: String? = nil) async throws(ProximityError) {
        let requester = Requester(name: name, address: nil, way: .qr)
        do throws(ProximityError) {
            try checkOrigin(text)
            let decision = try await consider(text) { [desk] session, user in
                await desk.ask(requester, about: session, inNameOf: user)
            }
            if let error = decision.error { throw error }
        } catch {
            events.send(.sessionNotAuthorized(requester, error))
            throw error
        }
        events.send(.sessionAuthorized(requester))
    }

    /// Asks for consent, and lets the requester in after a grant. No question is asked without a user session, nor
    /// about a URL that would do anything else.
    ///
    /// - Parameter ask: asks about a session, by its identifier, in the name of a user.
    /// - Returns: the decision; after a grant, the requester is let in.
    func consider(
        _ url: String,
        asking ask: @Sendable (_ session: String, _ user: String?) async throws(ProximityError) -> ConsentAnswer
    ) async throws(ProximityError) -> ConsentDecision {
        let user = try await requireSession()
        let answer = try await ask(try await sessionIdentifier(in: url), user)
        if answer.decision.isGranted { try await carryOut(answer, url) }
        return answer.decision
    }

    private func checkOrigin(_ url: String) throws(ProximityError) {
        do { try gateway.checkOrigin(url) } catch { throw .invalidAuthorizeURL(reason: error.reason) }
    }

    /// - Returns: the name of the user.
    @discardableResult
    func requireSession() async throws(ProximityError) -> String? {
        do { return try await gateway.requireUserSession() } catch { throw .noUserSession(reason: error.reason) }
    }

    /// The identifier of the session. It fails for URLs that would do anything else.
    private func sessionIdentifier(in url: String) async throws(ProximityError) -> String {
        do {
            return try await gateway.sessionIdentifier(in: url)
        } catch let error as ProximityError {
            throw error
        } catch {
            throw .authorizationFailed(answer: error.reason)
        }
    }

    /// Records a grant, sends the authorization to the gateway, and records the outcome.
    private func carryOut(_ answer: ConsentAnswer, _ url: String) async throws(ProximityError) {
        try await desk.begin(answer)
        killPoint("consent-recorded")
        do {
            try await gateway.authorize(url)
        } catch {
            let explanation = Explanation(of: error)
            await desk.conclude(answer, .failed(code: explanation.code))
            throw .authorizationFailed(answer: explanation.message)
        }
        killPoint("consent-carried-out")
        await desk.conclude(answer, .authorized)
    }
}
