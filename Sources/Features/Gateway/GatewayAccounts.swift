import AgentCore
import Board
import Gateway
import Groundwork
import LocalAPI
import Prompts
import Synchronization
import Vault

/// The accounts at gateways: creates, switches and removes them, one at a time: two links to one gateway would displace
/// each other at the broker.
package final actor GatewayAccounts {
    package nonisolated let host: Host
    package nonisolated let store: Gateways
    /// The hosts beside the gateways that may be called.
    package nonisolated let hosts: HostList
    nonisolated private let location: LocationFinder
    nonisolated private let passwordAsker: (any OneTimePasswordAsker)?
    private nonisolated let neighbors = Mutex(Neighbors())

    /// The default account and all others.
    package var table = AccountTable()
    /// Why the default document could not be taken at the start.
    package var defaultDocumentFault: Explanation?

    /// What other features add to accounts at gateways.
    package struct Neighbors: Sendable {
        package var users: (any AccountUsers)?
        package var browsers: (any AccountBrowsers)?
        package var tokens: (any AccountTokens)?
        package var calls: (any AccountCalls)?
        /// What is done with a registration; `nil` for an account with nothing to do.
        package var work: @Sendable (GatewaySession, GatewayConfiguration, AccountName) -> (any RegistrationWork)? = {
            _, _, _ in
            nil
        }
        /// Erases what is stored of a gateway that an account leaves for good.
        package var erase: @Sendable (_ scope: String) -> Void = { _ in }
        /// Called before an account is disconnected from its gateway.
        package var beforeDisconnecting: @Sendable (AccountName) async -> Void = { _ in }
    }

    package init(_ host: Host, location: LocationFinder, passwordAsker: (any OneTimePasswordAsker)?) {
        self.host = host
        self.location = location
        self.passwordAsker = passwordAsker
        store = Gateways(vault: host.vault)
        hosts = HostList(host.settings.hosts)
    }

    package nonisolated var added: Neighbors {
        get { neighbors.withLock { $0 } }
        set { neighbors.withLock { $0 = newValue } }
    }

    private nonisolated var settings: AgentConfiguration { host.settings }
    private nonisolated var vault: Vault { host.vault }

    private nonisolated func report(_ event: any ReportedEvent, of account: AccountName = .gateway) {
        host.report(event, of: account)
    }

    /// Resumes the accounts that the board had when the agent last ran.
    ///
    /// An account whose stored records cannot be used is reported and listed with the reason, and otherwise treated as
    /// not enrolled: it can be enrolled again, or removed.
    package func resume() async {
        await host.accounts.change.lock()
        defer { host.accounts.change.unlock() }
        do {
            try await hosts.load(from: vault)
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
            names = try await store.accounts().keys.compactMap(AccountName.init).sorted()
        } catch {
            return report(AccountEvent.configurationUnusable(error))
        }
        for name in names.prefix(AccountRegistry.limit) {
            do {
                guard let gateway = try await store.active(account: name.text) else { continue }
                await connect(name, to: gateway)
            } catch {
                table.unusable[name] = Explanation(of: error)
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
    package func enroll(
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

    /// Makes a configuration that of the default account, unless it has one. The link then registers the board, and
    /// keeps trying, unless a user has to.
    ///
    /// - Parameter more: what is stored in the same commit.
    /// - Returns: whether it was taken.
    package func takeFirst(_ gateway: GatewayConfiguration, alsoStoring more: [Change]) async throws -> Bool {
        await host.accounts.change.lock()
        defer { host.accounts.change.unlock() }
        guard try await !isEnrolled() else { return false }
        try await adopt(
            gateway, as: .gateway, registers: settings.registersByItself, byDocument: nil, alsoStoring: more)
        killPoint("first-boot-committed")
        table.passing[.gateway] = .loaded
        await connect(.gateway, to: gateway)
        return true
    }

    /// Whether the default account has a configuration, even one that cannot be used.
    package func isEnrolled() async throws -> Bool { try await store.accounts()[AccountName.gateway.text] != nil }

    /// The configuration of an account that is registered at another gateway.
    private func registered(
        _ name: AccountName, elsewhereThan identity: GatewayIdentity
    ) async throws -> GatewayConfiguration? {
        guard let link = table[name]?.link, link.gateway.identity != identity,
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
        if let link = table[name]?.link, link.gateway == gateway, !link.session.isStopped,
            try await link.session.status().registration == .registered
        {
            // Already registered with this configuration: keep the session.
            return link.session
        }
        table.passing[name] = .loaded
        return await connect(name, to: gateway)
    }

    /// Stores a configuration as the account's. The caller must hold ``AccountRegistry/change``, and connect.
    package func adopt(
        _ gateway: GatewayConfiguration, as name: AccountName, registers: Bool, byDocument document: [UInt8]?,
        alsoStoring more: [Change] = []
    ) async throws {
        try await host.accounts.checkRoom(for: name, ofKind: Gateways.kind)
        try await checkIsOnlyOne(name) { $0 == gateway.identity }
        let activate = { @Sendable [store] (changes: [Change]) in
            try await store.activate(
                gateway, as: name.text, registers: registers, byDocument: name == .gateway ? document : nil,
                alsoStoring: more + changes)
        }
        // What was allowed at the one gateway was not at the other.
        let isSwitch = try await store.accounts()[name.text].map { $0 != gateway.identity } ?? false
        let previous = isSwitch ? try await host.accounts.endingGrants(at: name, activate) : try await activate([])
        if name != .gateway, previous != nil {
            report(GatewayEvent.didSwitchGateway(from: previous, to: gateway.identity), of: name)
        }
    }

    /// Two accounts at one gateway would share their records.
    ///
    /// - Throws: ``AccountError/sameGateway(url:account:)`` if another account is at such a gateway.
    package func checkIsOnlyOne(_ name: AccountName, at isSuch: (GatewayIdentity) -> Bool) async throws {
        for (other, identity) in try await store.accounts() where other != name.text && isSuch(identity) {
            throw AccountError.sameGateway(url: identity.baseURL, account: AccountName(other) ?? .gateway)
        }
    }

    /// Removes an account at a gateway with all its stored records. The caller must hold ``AccountRegistry/change``.
    ///
    /// - Throws: ``AccountError/unknown(_:)``, ``AccountError/registered(_:)``, what the vault throws
    package func removeAccount(_ name: AccountName, endGrants: @Sendable () async throws -> Void) async throws {
        guard let gateway = try await store.accounts()[name.text] else { throw AccountError.unknown(name) }
        if let session = table[name]?.session, try await session.status().registration != .unregistered {
            throw AccountError.registered(name)
        }
        await disconnect(name)
        added.erase(gateway.scope)
        try await endGrants()
        try await store.remove(account: name.text)
        table.unusable[name] = nil
    }

    /// The caller must hold ``AccountRegistry/change``.
    @discardableResult
    package func connect(
        _ name: AccountName, to gateway: GatewayConfiguration
    ) async -> GatewaySession {
        await disconnect(name)
        killPoint("switch-disconnected")
        var options = settings.sessionOptions
        options.isStopped = (try? await store.isStopped(at: gateway.identity)) ?? false
        if !options.isStopped {
            report(AccountEvent.willStart, of: name)
            table.passing[name] = .willStart
        }
        defer { if !options.isStopped { table.passing[name] = nil } }
        let session = GatewaySession(
            configuration: gateway, vault: vault, client: host.client, board: host.deviceDescription, hosts: hosts,
            nameCheck: settings.gateway.nameCheck, renewDays: settings.gateway.renewDays,
            flow: settings.callPrincipal,
            userDemand: LoginOnDemand.demand(by: host.prompts, patience: settings.logInPatience), options: options,
            geolocation: location.geolocation(telephoneNumber: settings.gateway.telephoneNumber),
            passwordAsker: passwordAsker,
            clock: { [time = host.time] in time.now })
        let link = Link(
            session: session, gateway: gateway, account: name, work: added.work(session, gateway, name), host: host,
            erase: added.erase)
        table.hold(Account(name: name, link: link), runBy: Task { await link.run() })
        if !options.isStopped { report(AccountEvent.didStart, of: name) }
        return session
    }

    /// Ends the broker connection and all other work of all accounts for good; nothing stored is lost.
    package func close() async {
        await host.accounts.change.lock()
        // Never unlocked: the next lock holder would connect again.
        for account in table.all {
            let runs = !account.session.isStopped
            if runs { report(AccountEvent.willStop, of: account.name) }
            await disconnect(account.name)
            if runs { report(AccountEvent.didStop, of: account.name) }
        }
    }

    /// The caller must hold ``AccountRegistry/change``.
    private func disconnect(_ name: AccountName) async {
        await added.beforeDisconnecting(name)
        guard let session = table[name]?.session, let task = table.drop(name) else { return }
        task.cancel()
        await task.value
        // A request or a prompt that still has the session would write records behind the next one's back.
        await session.close()
    }
}

extension Host {
    /// As gateways are told when the board registers.
    fileprivate var deviceDescription: DeviceDescription {
        DeviceDescription(name: deviceName, model: board.model ?? board.definition.title)
    }
}
