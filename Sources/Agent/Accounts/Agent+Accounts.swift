import Gateway
import Groundwork
import Prompts
import Proximity
import Vault

/// Creates, switches and removes accounts, one at a time: two links to one gateway would displace each other at the
/// broker.
extension Agent {
    /// Resumes the accounts that the board had when the agent last ran.
    ///
    /// An account whose stored records cannot be used is reported and listed with the reason, and otherwise treated as
    /// not enrolled: it can be enrolled again, or removed.
    func resume() async {
        await host.accounts.change.lock()
        defer { host.accounts.change.unlock() }
        do {
            try await hosts.load(from: vault)
        } catch {
            report(AccountEvent.configurationUnusable(error))
        }
        do {
            try await grants.load(from: vault)
        } catch {
            report(AccountEvent.configurationUnusable(error))
        }
        do {
            try await host.accounts.loadCurrent()
        } catch {
            report(AccountEvent.configurationUnusable(error))
        }
        await takeDefaultDocument()
        let names: [AccountName]
        do {
            names = try await gateways.accounts().keys.compactMap(AccountName.init).sorted()
        } catch {
            return report(AccountEvent.configurationUnusable(error))
        }
        for name in names.prefix(AccountRegistry.limit) {
            do {
                guard let gateway = try await gateways.active(account: name.text) else { continue }
                await connect(name, to: gateway)
            } catch {
                accounts.unusable[name] = Explanation(of: error)
                report(AccountEvent.configurationUnusable(error), of: name)
                report(AccountEvent.didFailToStart(error), of: name)
            }
        }
    }

    /// Gives an account a configuration, and registers the board at its gateway.
    ///
    /// - Parameters:
    ///   - registers: whether to register at once, with the client's own credentials; otherwise the board waits for a
    ///     user to log in.
    ///   - document: the hash of the default document, if the configuration is that one.
    /// - Returns: the status, once the board is registered or awaits activation.
    /// - Throws: ``AccountError``, why the configuration was not accepted, or why the registration failed. In the
    ///   latter case the account is back at the gateway where it was registered, if there was one; otherwise the
    ///   configuration is in use, and the link keeps trying.
    func enroll(
        _ gateway: GatewayConfiguration, as name: AccountName = .gateway, registers: Bool = true,
        byDocument document: [UInt8]? = nil
    ) async throws -> GatewayStatus {
        let former = try await registered(name, elsewhereThan: gateway.identity)
        let session = try await activate(gateway, as: name, registers: registers, byDocument: document)
        guard registers else { return try await session.status() }
        do {
            try await session.ready()
        } catch {
            let status = try await session.status()
            guard status.registration != .unregistered else {
                // Also for a caller who has gone.
                if let former { try await Task { try await goBack(to: former, as: name) }.value }
                throw error
            }
            // A step after the registration failed; the session has reported it, and the link keeps trying.
            return status
        }
        return try await session.status()
    }

    /// The configuration of an account that is registered at another gateway.
    private func registered(
        _ name: AccountName, elsewhereThan identity: GatewayIdentity
    ) async throws -> GatewayConfiguration? {
        guard let link = accounts[name]?.link, link.gateway.identity != identity,
            try await link.session.status().registration == .registered
        else { return nil }
        return link.gateway
    }

    private func goBack(to former: GatewayConfiguration, as name: AccountName) async throws {
        _ = try await activate(former, as: name, registers: true, byDocument: nil)
    }

    private func activate(
        _ gateway: GatewayConfiguration, as name: AccountName, registers: Bool, byDocument document: [UInt8]?
    ) async throws -> GatewaySession {
        await host.accounts.change.lock()
        defer { host.accounts.change.unlock() }
        try await adopt(gateway, as: name, registers: registers, byDocument: document)
        if let link = accounts[name]?.link, link.gateway == gateway, !link.session.isStopped,
            try await link.session.status().registration == .registered
        {
            // Already registered with this configuration: keep the session.
            return link.session
        }
        accounts.passing[name] = .loaded
        return await connect(name, to: gateway)
    }

    /// Stores a configuration as the account's. The caller must hold ``AccountRegistry/change``, and connect.
    func adopt(
        _ gateway: GatewayConfiguration, as name: AccountName, registers: Bool, byDocument document: [UInt8]?,
        alsoStoring more: [Change] = []
    ) async throws {
        try await host.accounts.checkRoom(for: name, ofKind: Gateways.kind)
        try await checkIsOnlyOne(name) { $0 == gateway.identity }
        let activate = { @Sendable [gateways] (changes: [Change]) in
            try await gateways.activate(
                gateway, as: name.text, registers: registers, byDocument: name == .gateway ? document : nil,
                alsoStoring: more + changes)
        }
        // What was allowed at the one gateway was not at the other.
        let isSwitch = try await gateways.accounts()[name.text].map { $0 != gateway.identity } ?? false
        let previous = isSwitch ? try await endingGrants(at: name, activate) : try await activate([])
        if name != .gateway, previous != nil {
            report(GatewayEvent.didSwitchGateway(from: previous, to: gateway.identity), of: name)
        }
    }

    /// Two accounts at one gateway would share their records.
    ///
    /// - Throws: ``AccountError/sameGateway(url:account:)`` if another account is at such a gateway.
    func checkIsOnlyOne(_ name: AccountName, at isSuch: (GatewayIdentity) -> Bool) async throws {
        for (other, identity) in try await gateways.accounts() where other != name.text && isSuch(identity) {
            throw AccountError.sameGateway(url: identity.baseURL, account: AccountName(other) ?? .gateway)
        }
    }

    /// Removes an account at a gateway with all its stored records. The caller must hold ``AccountRegistry/change``.
    ///
    /// - Throws: ``AccountError/unknown(_:)``, ``AccountError/registered(_:)``, what the vault throws
    func removeAccount(_ name: AccountName, endGrants: @Sendable () async throws -> Void) async throws {
        guard let gateway = try await gateways.accounts()[name.text] else { throw AccountError.unknown(name) }
        if let session = accounts[name]?.session, try await session.status().registration != .unregistered {
            throw AccountError.registered(name)
        }
        await disconnect(name)
        Station.removeMessages(of: gateway.scope, in: configuration.stateDirectory)
        try await endGrants()
        try await gateways.remove(account: name.text)
        accounts.unusable[name] = nil
    }

    /// The caller must hold ``AccountRegistry/change``.
    @discardableResult
    func connect(
        _ name: AccountName, to gateway: GatewayConfiguration
    ) async -> GatewaySession {
        await disconnect(name)
        killPoint("switch-disconnected")
        var options = configuration.sessionOptions
        options.isStopped = (try? await gateways.isStopped(at: gateway.identity)) ?? false
        if !options.isStopped {
            report(AccountEvent.willStart, of: name)
            accounts.passing[name] = .willStart
        }
        defer { if !options.isStopped { accounts.passing[name] = nil } }
        let session = GatewaySession(
            configuration: gateway, vault: vault, client: client, board: deviceDescription, hosts: hosts,
            nameCheck: configuration.gateway.nameCheck, renewDays: configuration.gateway.renewDays,
            flow: configuration.callPrincipal,
            userDemand: LogInOnDemand.demand(by: prompts, patience: configuration.logInPatience), options: options,
            whereabouts: location.whereabouts(telephoneNumber: configuration.gateway.telephoneNumber),
            passwordAsker: passwordAsker,
            clock: { [time] in time.now })
        let link = Link(
            session: session, gateway: gateway, account: name, hasBroker: name == brokerAccount, agent: self)
        accounts.hold(Account(name: name, link: link), runBy: Task { await link.run() })
        if !options.isStopped { report(AccountEvent.didStart, of: name) }
        return session
    }

    /// Ends the broker connection and all other work of all accounts for good; nothing stored is lost.
    func close() async {
        await host.accounts.change.lock()
        // Never unlocked: the next lock holder would connect again.
        for account in accounts.all {
            let runs = !account.session.isStopped
            if runs { report(AccountEvent.willStop, of: account.name) }
            await disconnect(account.name)
            if runs { report(AccountEvent.didStop, of: account.name) }
        }
    }

    /// The caller must hold ``AccountRegistry/change``.
    private func disconnect(_ name: AccountName) async {
        if name == .gateway { await nearby.stopSharing(by: .agent) }
        guard let session = accounts[name]?.session, let task = accounts.drop(name) else { return }
        task.cancel()
        await task.value
        // A request or a prompt that still has the session would write records behind the next one's back.
        await session.close()
    }

    // MARK: Lookup

    /// - Throws: ``AgentError/notEnrolled`` for the default account, ``AccountError/unknown(_:)`` for any other
    func account(_ name: AccountName) throws -> Account {
        if let account = accounts[name] { return account }
        throw name == .gateway ? AgentError.notEnrolled : AccountError.unknown(name)
    }

    /// The link that has the board's broker connection, or will have it.
    var brokerLink: Link? { accounts[brokerAccount]?.link }

    /// The default account's link.
    var link: Link? { accounts[.gateway]?.link }
}
