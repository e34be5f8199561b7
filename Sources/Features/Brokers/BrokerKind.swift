import AgentCore
import AgentMessages
import Cryptography
import Groundwork
import Messaging
import Synchronization
import Vault

/// Accounts at brokers: those that were made here, and those that the settings have.
final class BrokerKind: AccountKind, BoardBrokerSource {
    let name = BrokerAccount.kind
    private let host: Host
    private let board: BoardBroker
    private let state: Mutex<State>

    private struct State {
        var brokers: [AccountName: NamedBroker] = [:]
        /// Those whose records cannot be used, with the reason.
        var unusable: [AccountName: Explanation] = [:]
        /// Why the vault could not say which accounts there are.
        var fault: Explanation?
        /// That of the account to which the board's messages go.
        var connection: (name: AccountName, connection: BoardConnection)?
    }

    init(_ host: Host, _ board: BoardBroker) {
        (self.host, self.board) = (host, board)
        var state = State()
        for preset in host.settings.brokers {
            if let name = AccountName(preset.name) { state.brokers[name] = Self.broker(preset, host) }
        }
        self.state = Mutex(state)
        board.install(self)
    }

    private static func broker(_ account: BrokerAccount, _ host: Host) -> NamedBroker {
        NamedBroker(
            BrokerLogin(account, host), policy: OutboxPolicy(host.settings.outbox), network: host.network
        ) { host.report($0, over: .named(account.name)) }
    }

    /// Goes on with the accounts that the vault has.
    func resume() async {
        var names: [String] = []
        do {
            names = try await host.vault.accounts(ofKind: name)
        } catch {
            state.withLock { $0.fault = Explanation(of: error) }
        }
        for text in names {
            guard let name = AccountName(text), state.withLock({ $0.brokers[name] == nil }) else { continue }
            do {
                guard let record = try await host.vault.record(BrokerAccount.record(of: text)) else {
                    throw BrokerError.recordInvalid(text)
                }
                let account = try BrokerAccount(record: record, of: name)
                state.withLock { $0.brokers[name] = Self.broker(account, host) }
            } catch {
                state.withLock { $0.unusable[name] = Explanation(of: error) }
            }
        }
        for broker in all { begin(broker.settings) }
    }

    /// What keeps accounts from being used.
    var warnings: [String] {
        let (unusable, fault) = state.withLock { ($0.unusable, $0.fault) }
        return (fault.map { ["the accounts at brokers cannot be read: \($0.message)"] } ?? [])
            + unusable.sorted { $0.key < $1.key }.map { "the account \($0.key) cannot be used: \($0.value.message)" }
    }

    /// Begins to send the board's messages to the account's broker, if that is where they go.
    private func begin(_ account: BrokerAccount) {
        guard let name = AccountName(account.name), state.withLock({ $0.connection == nil }) else { return }
        guard board.isChosenByAccounts ? account.carriesMessages : board.account == name else { return }
        state.withLock { $0.connection = (name, BoardConnection(account, name, host)) }
        board.use(name)
    }

    /// In the order of their names.
    var all: [NamedBroker] { state.withLock { $0.brokers }.sorted { $0.key < $1.key }.map(\.value) }

    func broker(_ name: AccountName) -> NamedBroker? { state.withLock { $0.brokers[name] } }

    func close() async {
        for broker in all { _ = await broker.disconnect() }
        await state.withLock { $0.connection?.connection }?.end()
    }

    // MARK: The board's messages

    func keeper(of account: AccountName) -> BrokerSessionKeeper? { connection(of: account)?.keeper }

    func settle(_ account: AccountName) async throws { try await connection(of: account)?.settled.pass() }

    private func connection(of account: AccountName) -> BoardConnection? {
        state.withLock { $0.connection?.name == account ? $0.connection?.connection : nil }
    }

    // MARK: Accounts

    func names() async throws -> [AccountName] { state.withLock { Array($0.brokers.keys) + Array($0.unusable.keys) } }

    var presets: Set<AccountName> { Set(host.settings.brokers.compactMap { AccountName($0.name) }) }

    /// - Parameters:
    ///   - account: whose client identifier may be empty: then it gets one of its own.
    ///   - key: that of its certificate, in PEM.
    ///   - carries: whether the board's messages go to it; `nil`: if they go nowhere else.
    /// - Throws: ``BrokerError/boardHasBroker(_:)``, ``AccountError``, what the vault throws
    func add(_ account: BrokerAccount, _ name: AccountName, chain: [Certificate], key: SecretBytes?, carries: Bool?)
        async throws
    {
        try await host.accounts.add(name, ofKind: self.name) {
            var account = account
            if account.clientID.isEmpty {
                account.clientID = try BrokerAccount.freshClientID(of: self.host.deviceName)
            }
            _ = try TopicNamespace(template: account.topics, deviceID: account.device)
            let isFree = await self.board.isFree
            if carries == true, !isFree { throw BrokerError.boardHasBroker(self.board.account) }
            account.carriesMessages = carries ?? isFree
            let keys = self.host.vault.keys(of: BrokerAccount.scope(of: name.text))
            // An earlier attempt may have left one.
            try await keys.sweep(keeping: [])
            if let key {
                guard let reference = try KeyReference.fresh(.software, label: "client") else {
                    throw BrokerError.recordInvalid(name.text)
                }
                let adopted = try await keys.adopt(pem: key, as: reference)
                guard chain.first?.publicKey == adopted.publicKey else {
                    try await keys.sweep(keeping: [])
                    throw CryptographyError.keyDoesNotFitCertificate
                }
                account.identity = BrokerAccount.Identity(chain: chain, key: reference)
            }
            try await self.host.vault.commit(account.additions, counting: true)
            let broker = Self.broker(account, self.host)
            self.state.withLock { state in
                (state.brokers[name], state.unusable[name]) = (broker, nil)
            }
            self.begin(account)
        }
    }

    func remove(_ name: AccountName, force: Bool, endGrants: @Sendable () async throws -> Void) async throws {
        let broker = broker(name)
        guard broker?.settings.isPreset != true else { throw BrokerError.inSettings(name.text) }
        try await endGrants()
        // First, so that nothing has changed if the vault cannot be written.
        try await host.vault.commit(BrokerAccount.removals(of: name.text), counting: true)
        state.withLock { state in (state.brokers[name], state.unusable[name]) = (nil, nil) }
        _ = await broker?.disconnect()
        if let connection = connection(of: name) {
            await connection.end()
            state.withLock { $0.connection = nil }
            if board.isChosenByAccounts { board.use(.gateway) }
        }
        BrokerSession.removeMessages(of: AccountBrokerAccess.scope(of: name.text), in: host.settings.stateDirectory)
        try await host.vault.keys(of: BrokerAccount.scope(of: name.text)).sweep(keeping: [])
    }

    func report(_ name: AccountName) async throws -> [String: JSON] {
        if let fault = state.withLock({ $0.unusable[name] }) { return ["lastError": .object(fault.members)] }
        guard let broker = broker(name) else { throw AccountError.unknown(name) }
        return ["broker": await self.broker(broker)]
    }

    /// The state of an account's broker: that of the board's own connection where its messages go there.
    func broker(_ broker: NamedBroker) async -> JSON {
        let board = AccountName(broker.settings.name).flatMap { keeper(of: $0) }
        let status =
            if let board { await board.brokerSession?.messenger.status() } else {
                await broker.connection?.messenger.status()
            }
        return NamedBroker.answer.json((broker.settings, status, board == nil ? await broker.lastError : nil))
    }
}
