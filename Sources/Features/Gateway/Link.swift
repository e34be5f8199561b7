import AgentCore
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient
import Messaging

/// An account's link to its gateway: keeps the board registered there, and has others work with the registration.
package final actor Link {
    package nonisolated let session: GatewaySession
    package nonisolated let gateway: GatewayConfiguration
    package nonisolated let account: AccountName
    /// `nil` for an account whose registration nothing else needs.
    package nonisolated let work: (any RegistrationWork)?
    package nonisolated let host: Host
    /// Erases what is stored of a gateway.
    private let erase: @Sendable (_ scope: String) -> Void

    /// Open once the first attempt to use the registration is over, or cannot be made without the gateway.
    private let settled = AsyncGate()
    /// Whether ``registeredDevice()`` asks the gateway for a registration.
    private var isRegistering = false
    /// Subscribed from the beginning, so that events caused by the first caller are reported.
    private let events: AsyncStream<GatewayEvent>

    package init(
        session: GatewaySession, gateway: GatewayConfiguration, account: AccountName,
        work: (any RegistrationWork)?, host: Host, erase: @escaping @Sendable (_ scope: String) -> Void
    ) {
        self.session = session
        self.gateway = gateway
        self.account = account
        self.work = work
        self.host = host
        self.erase = erase
        events = session.events.subscribe()
    }

    /// Registers the board and has others use the registration; runs until canceled.
    package func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.forwardEvents() }
            if host.settings.preloadsKeys(of: gateway), !session.isStopped {
                // Otherwise they are downloaded when the first token needs them.
                group.addTask { [session] in try? await session.preloadKeys() }
            }
            await keepRegistered()
            group.cancelAll()
        }
    }

    /// Passes on the session's events, and learns the time from them.
    private func forwardEvents() async {
        for await event in events {
            host.report(event, of: account, ends: event.consequences.contains(.identityChanges) ? [.broker] : [])
            // A record that cannot be read is reported by the code that needs it.
            if event.consequences.contains(.timeIsConfirmed) { try? await confirmTime(by: .kept) }
        }
    }

    /// Confirms the clock, by which a server's certificate was valid when its connection was made. The clock may have
    /// been set since, even years ahead: then a connection that was kept is closed, and the next one tells.
    package func confirmTime(by connection: BestKnownTime.Connection) async throws {
        try await learnTime()
        guard let certificate = try await session.status().certificate else { return }
        guard !host.time.confirm(by: connection, before: certificate.notAfter) else { return }
        host.client.forgetConnections()
    }

    /// Learns that it is later than the issue of the board's certificate.
    private func learnTime() async throws {
        if let certificate = try await session.status().certificate { host.time.notBefore(certificate.notBefore) }
    }

    /// Waits while the work of a registered board is still being begun: neither a program that starts with the agent
    /// nor one that begins right after the registration may get the answer that the board is not registered.
    ///
    /// - Throws: `CancellationError` if the caller is canceled while it waits.
    package func settle() async throws {
        if isRegistering, let status = try? await session.status(), status.registration == .registered, isRegistering {
            settled.close()
        }
        try await settled.pass()
    }

    // MARK: Registration

    private func keepRegistered() async {
        defer { settled.open() }
        var backoff = Backoff(initial: .seconds(1), cap: .seconds(300))
        while !Task.isCancelled {
            // Subscribed before the attempt, so that a person's action during it is not missed.
            let events = session.events.subscribe()
            let start = ContinuousClock.now
            do {
                // Before the first connection: a board without a clock checks its certificates against this time.
                try await learnTime()
                try await stay(as: try await registeredDevice())
                // The registration was made or lost. If that keeps happening, it must not keep the gateway busy.
                if ContinuousClock.now - start > .seconds(60) { backoff.reset() }
                try? await Task.sleep(for: backoff.next())
            } catch {
                guard !Task.isCancelled else { return }
                await work?.didFail(error)
                settled.open()
                let delay = max(backoff.next(), host.network.leastDelay(to: gateway.identity.host))
                host.report(AccountEvent.notReady(error, retryAfter: delay), of: account)
                if (error as? GatewayError)?.needsPerson == true {
                    await Self.identityChange(in: events)
                    backoff.reset()
                } else {
                    if await host.network.pause(for: delay) { backoff.reset() }
                }
            }
        }
    }

    /// The device identifier, once the board is registered; registers it if necessary.
    ///
    /// A registered board opens its outbox without the gateway: messages published while the gateway is unreachable are
    /// kept, as they are while the broker is unreachable.
    private func registeredDevice() async throws -> String {
        if try await session.status().registration != .registered {
            settled.open()
            guard !session.isStopped else { throw GatewayError.stopped }
            try await register()
        }
        let status = try await session.status()
        guard status.registration == .registered, let device = status.deviceID else {
            throw status.magIdentifier.map(GatewayError.awaitingActivation) ?? GatewayError.notRegistered
        }
        return device
    }

    private func register() async throws {
        isRegistering = true
        defer { isRegistering = false }
        do {
            try await session.ready()
        } catch let error as GatewayError {
            // What fails after the registration, such as the first token, does not keep the outbox closed.
            guard try await session.status().registration == .registered else { throw error }
        }
        // The work begins next.
        settled.close()
    }

    /// Keeps the registration, and has it used, until the identity changes.
    private func stay(as device: String) async throws {
        let changes = session.events.subscribe()
        // The registration may have been lost before the subscription.
        guard try await session.status().registration == .registered else { return settled.open() }
        guard let work else {
            settled.open()
            return await Self.identityChange(in: changes, keepingCertificateOf: session)
        }
        try await work.run(at: self, as: device, until: changes) { [settled] in settled.open() }
    }

    /// Returns when the registration is made or lost. Until then the certificate is renewed when that is due.
    package static func identityChange(
        in events: AsyncStream<GatewayEvent>, keepingCertificateOf session: GatewaySession
    ) async {
        await withTaskGroup(of: Void.self) { group in
            // Renewal has a window of days, so checking twice a day is enough.
            group.addTask {
                while (try? await Task.sleep(for: .seconds(12 * 3600))) != nil {
                    // A failure is reported by the session and retried at the next use.
                    try? await session.ready()
                }
            }
            await identityChange(in: events)
            group.cancelAll()
        }
    }

    /// Returns when the registration is made or lost.
    package static func identityChange(in events: AsyncStream<GatewayEvent>) async {
        for await event in events where event.consequences.contains(.identityChanges) { return }
    }

    // MARK: Giving it up

    /// Removes the device at the gateway, then here, with the waiting messages, which belong to the former identity.
    ///
    /// - Throws: `GatewayError`; nothing has changed then.
    package func deregister() async throws -> DiscardedMessages {
        try await discarding { [session] in try await session.deregister() }
    }

    /// Forgets the device on this board only, with the waiting messages.
    package func reset() async throws -> DiscardedMessages {
        try await discarding { [session] in try await session.reset() }
    }

    private func discarding(_ giveUp: @Sendable () async throws -> Void) async throws -> DiscardedMessages {
        if let work { return try await work.discarding(at: self, giveUp) }
        try await giveUp()
        erase(gateway.identity.scope)
        return DiscardedMessages()
    }
}
