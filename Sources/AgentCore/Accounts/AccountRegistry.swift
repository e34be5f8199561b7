import Cryptography
import Groundwork
import LocalAPI
import Synchronization
import Vault

/// The board's accounts of every kind, by name.
package final class AccountRegistry: Sendable {
    /// The most accounts a board may have: each costs memory, a task and connections.
    package static let limit = 8
    static let currentRecord = RecordName(scope: "", name: "current-account")

    private struct State {
        var kinds: [any AccountKind] = []
        var grants: (any AccountGrants)?
        var broker: AccountName?
        var current = AccountName.gateway
    }

    private let vault: Vault
    private let state = Mutex(State())
    /// Locked while accounts are made, switched or removed: one at a time.
    package let change = AsyncMutex()

    package init(vault: Vault) { self.vault = vault }

    package func install(_ kinds: [any AccountKind]) { state.withLock { $0.kinds = kinds } }

    package func install(_ grants: any AccountGrants) { state.withLock { $0.grants = grants } }

    /// - Parameter account: the one whose registration is used at the board's broker.
    package func install(broker account: AccountName) { state.withLock { $0.broker = account } }

    // MARK: Finding

    package var kinds: [any AccountKind] { state.withLock { $0.kinds } }

    /// - Returns: `nil` if there is no account of that name; for the default one always the gateway's kind.
    package func kind(of name: AccountName) async throws -> (any AccountKind)? {
        for kind in kinds {
            if name == .gateway, kind.name == AccountName.gateway.text { return kind }
            if try await kind.names().contains(name) { return kind }
        }
        return nil
    }

    /// - Throws: ``AccountError/unknown(_:)``
    package func requiredKind(of name: AccountName) async throws -> any AccountKind {
        guard let kind = try await kind(of: name) else { throw AccountError.unknown(name) }
        return kind
    }

    /// What the kind of an account can do.
    ///
    /// - Throws: ``AccountError/unknown(_:)``, ``AccountError/otherKind(_:kind:)`` if it cannot
    package func ability<Ability>(_ ability: (any AccountKind) -> Ability?, of name: AccountName) async throws
        -> Ability
    {
        let kind = try await requiredKind(of: name)
        guard let ability = ability(kind) else { throw AccountError.otherKind(name, kind: kind.name) }
        return ability
    }

    /// Why an account is not one of a kind.
    package func fault(of name: AccountName, notOf kind: String) async throws -> any Error {
        let other = try await self.kind(of: name)
        guard let other, other.name != kind else { return AccountError.unknown(name) }
        return AccountError.otherKind(name, kind: other.name)
    }

    /// All accounts with their kinds, the default one first.
    package func all() async throws -> [(name: AccountName, kind: any AccountKind)] {
        var all: [(name: AccountName, kind: any AccountKind)] = []
        for kind in kinds { all += try await kind.names().map { ($0, kind) } }
        return all.sorted { $0.name < $1.name }
    }

    // MARK: Reports

    package func report(_ name: AccountName) async throws -> JSON {
        try await report(name, try await requiredKind(of: name))
    }

    package func reports() async throws -> [JSON] {
        var reports: [JSON] = []
        for (name, kind) in try await all() {
            do {
                reports.append(try await report(name, kind))
            } catch AccountError.unknown, AgentError.notEnrolled {
                // Removed meanwhile.
            }
        }
        return reports
    }

    private func report(_ name: AccountName, _ kind: any AccountKind) async throws -> JSON {
        let identity: [String: JSON] = [
            "name": .string(name.text), "kind": .string(kind.name), "isDefault": .bool(name == .gateway),
            "isCurrent": .bool(name == current), "usesBroker": .bool(name == state.withLock(\.broker)),
        ]
        return .object(try await kind.report(name).merging(identity) { _, own in own })
    }

    // MARK: Making and removing

    /// - Throws: ``AccountError/otherKind(_:kind:)``, ``AccountError/tooMany(limit:)`` if there is no room for another
    package func checkRoom(for name: AccountName, ofKind kind: String) async throws {
        let all = try await all()
        if let held = all.first(where: { $0.name == name }) {
            guard held.kind.name == kind else { throw AccountError.otherKind(name, kind: held.kind.name) }
        } else if all.count(where: { !$0.kind.presets.contains($0.name) }) >= Self.limit {
            throw AccountError.tooMany(limit: Self.limit)
        }
    }

    /// Makes an account whose name is free.
    ///
    /// - Throws: ``AccountError/exists(_:)``, ``AccountError/tooMany(limit:)``, what `make` throws
    package func add(_ name: AccountName, ofKind kind: String, _ make: () async throws -> Void) async throws {
        await change.lock()
        defer { change.unlock() }
        guard name != .gateway, try await self.kind(of: name) == nil else { throw AccountError.exists(name) }
        try await checkRoom(for: name, ofKind: kind)
        try await make()
    }

    /// - Throws: ``AccountError/unknown(_:)``, ``AccountError/current(_:)``, what its kind throws
    package func remove(_ name: AccountName, force: Bool) async throws {
        await change.lock()
        defer { change.unlock() }
        let kind = try await requiredKind(of: name)
        // An account that disappeared would have the next command fail, or mean another one. The default account may
        // always be named: it is enrolled again under that name.
        guard name != current || name == .gateway else { throw AccountError.current(name) }
        try await kind.remove(name, force: force) {
            try await self.endingGrants(at: name) { try await self.vault.commit($0) }
        }
    }

    /// Ends what was allowed at an account, in the commit after which the account is another or none.
    ///
    /// - Parameter commit: makes that commit, with these changes too.
    /// - Throws: what the vault and `commit` throw
    package func endingGrants<Value: Sendable>(
        at name: AccountName, _ commit: @Sendable ([Change]) async throws -> Value
    ) async throws -> Value {
        guard let grants = state.withLock(\.grants) else { return try await commit([]) }
        return try await grants.ending(at: name, commit)
    }

    // MARK: The account that commands mean where they name none (decision 0053)

    package var current: AccountName { state.withLock { $0.current } }

    /// Takes the choice that was in force when the agent last ran. The caller must hold ``change``.
    package func loadCurrent() async throws {
        guard let record = try await vault.record(Self.currentRecord) else { return }
        let current = AccountName(record.content.exposedText()) ?? .gateway
        state.withLock { $0.current = current }
    }

    /// Has commands that name no account mean this one, until another is chosen; also across restarts.
    ///
    /// Nothing that runs changes: neither whose broker carries the messages, nor what `/v1/…` without an account means.
    ///
    /// - Returns: the one before.
    /// - Throws: ``AccountError/unknown(_:)``, what the vault throws
    package func use(_ name: AccountName) async throws -> AccountName {
        await change.lock()
        defer { change.unlock() }
        if name != .gateway { _ = try await requiredKind(of: name) }
        let former = current
        guard name != former else { return former }
        try await vault.commit([.put(Self.currentRecord, .configuration, SecretBytes(utf8: name.text))])
        state.withLock { $0.current = name }
        return former
    }
}

/// What local programs may do at accounts.
package protocol AccountGrants: Sendable {
    /// - Parameter commit: makes the commit after which the account is another or none, with these changes too.
    func ending<Value: Sendable>(
        at name: AccountName, _ commit: @Sendable ([Change]) async throws -> Value
    ) async throws -> Value
}
