import Cryptography
import FoundationEssentials
import Groundwork
import Vault

/// The two clocks of a session.
struct SessionClocks: Sendable {
    /// The best known time.
    let date: @Sendable () -> Date
    /// Time since any fixed moment, by a monotonic clock.
    let uptime: @Sendable () -> Duration

    var now: Moment { Moment(date: date(), uptime: uptime()) }
}

/// A session's state: read from the vault once, changed only inside operations, and written to disk before it is used.
actor HoldingsStore {
    /// A snapshot of the state.
    struct State: Sendable {
        let holdings: Holdings
        /// Increases with every change, so that a recovery can see whether another caller has already recovered.
        let revision: Int
    }

    nonisolated let configuration: GatewayConfiguration
    nonisolated let events = Broadcast<GatewayEvent>()
    nonisolated let clocks: SessionClocks
    nonisolated let keys: any KeyStore
    nonisolated let keyChoice: KeyChoice
    private let vault: Vault
    /// `nil` until the first read.
    private var current: State?
    /// Locked while the vault is read or written: the first read may also write.
    private let access = AsyncMutex()

    init(
        configuration: GatewayConfiguration, vault: Vault, keyChoice: KeyChoice = KeyChoice(), clocks: SessionClocks
    ) {
        self.configuration = configuration
        self.vault = vault
        keys = vault.keys(of: configuration.identity.scope)
        self.keyChoice = keyChoice
        self.clocks = clocks
    }

    private nonisolated var scope: String { configuration.identity.scope }

    // MARK: Reading

    /// - Throws: ``GatewayError/deviceRecordInvalid(reason:)``, or what the vault throws.
    func state() async throws -> State {
        if let current { return current }
        await access.lock()
        defer { access.unlock() }
        return try await loaded()
    }

    /// - Throws: the errors of ``state()``.
    func holdings() async throws -> Holdings { try await state().holdings }

    /// The current state. Requires ``access`` to be locked.
    private func loaded() async throws -> State {
        if let current { return current }
        let stored = try await stored()
        var adopted = stored
        adopted.adopt(configuration)
        try await write(from: stored, to: adopted)
        let state = State(holdings: adopted, revision: 0)
        current = state
        return state
    }

    /// The state in the vault.
    private func stored() async throws -> Holdings {
        var records: [String: SecretBytes] = [:]
        for document in HoldingsDocument.allCases where document != .user {
            records[document.rawValue] = try await vault.record(document.name(in: scope))?.content
        }
        var holdings = try HoldingsReader(records: records).holdings(at: clocks.now)
        if holdings.lock == nil { try await readUser(into: &holdings) }
        try await loadKeys(of: &holdings)
        return holdings
    }

    private func readUser(into holdings: inout Holdings) async throws {
        let document = HoldingsDocument.user
        // Typed, the error of a `do` whose `catch` has a pattern stops the compiler of Swift 6.2.
        let name = document.name(in: scope)
        do throws(any Error) {
            guard try await vault.names(scope: scope).contains(name) else {
                holdings.user = nil
                return
            }
            // Also a record that a power cut has left outside of the passcode.
            try await vault.requirePersonal()
            let records = try await vault.record(name).map { [document.rawValue: $0.content] }
            holdings.user = HoldingsReader(records: records ?? [:]).user(at: clocks.now)
        } catch let fault as VaultError where fault.isOfLevel {
            holdings.user = nil
            holdings.userFault = fault
        }
    }

    /// Reads the user again after the vault's passcode was locked or unlocked, or what is behind it erased.
    ///
    /// - Throws: what the vault throws
    func refreshUser() async throws {
        await access.lock()
        defer { access.unlock() }
        guard let held = current, held.holdings.lock == nil else { return }
        var next = held.holdings
        do {
            try await readUser(into: &next)
        } catch {
            // A user who cannot be read is not kept in memory either.
            next.user = nil
            replace(held, by: next)
            throw error
        }
        replace(held, by: next)
    }

    /// - Throws: `SessionLockError.locked`, `VaultError.levelLocked`, what the vault throws
    func requireUnlocked() async throws {
        try await holdings().requireUnlocked()
        try await requirePersonal()
    }

    /// - Throws: `VaultError.levelLocked` while the vault's passcode is locked
    func requirePersonal() async throws(VaultError) { try await vault.requirePersonal() }

    /// Loads the keys, and removes those that a crash left without a reference.
    private func loadKeys(of holdings: inout Holdings) async throws {
        try await keys.sweep(keeping: holdings.references)
        for reference in holdings.references {
            // Typed, the error of a `do` whose `catch` has a pattern stops the compiler of Swift 6.2.
            do throws(any Error) {
                holdings.keys[reference] = try await keys.key(reference)
            } catch VaultError.keyInvalid(let name) {
                throw GatewayError.deviceRecordInvalid(reason: "\(name.name) is not a private key")
            }
        }
        guard let device = holdings.device else { return }
        guard let key = holdings.keys[device.key] else {
            throw GatewayError.deviceRecordInvalid(reason: "a part of it is missing")
        }
        guard device.leaf.publicKey == key.publicKey else {
            throw GatewayError.deviceRecordInvalid(reason: "the certificate is not for the key")
        }
    }

    // MARK: Changing

    /// Applies a change to the current state, writes the result to disk, then uses it.
    ///
    /// - Throws: what the vault throws. If the passcode was locked meanwhile, all but the user is stored nevertheless.
    func update(in operation: borrowing Operation, _ change: @Sendable (inout Holdings) -> Void) async throws {
        await access.lock()
        defer { access.unlock() }
        let held = try await loaded()
        var next = held.holdings
        change(&next)
        // Typed, the error of a `do` whose `catch` has a pattern stops the compiler of Swift 6.2.
        do throws(any Error) {
            try await write(from: held.holdings, to: next)
        } catch let fault as VaultError where fault.isOfLevel {
            next.user = nil
            next.lock = held.holdings.lock ?? next.lock
            if held.holdings.user != nil || held.holdings.userFault != nil { next.userFault = fault }
            try await write(from: held.holdings, to: next)
            replace(held, by: next)
            throw fault
        }
        replace(held, by: next)
    }

    private func write(from old: Holdings, to new: Holdings) async throws {
        let step = HoldingsChanges(from: old, to: new, scope: scope)
        // A registration begins or ends: an earlier copy of the vault must not hide it.
        let counts = (old.device == nil) != (new.device == nil)
        try await vault.commit(step.changes + step.droppedKeys.flatMap { keys.removal(of: $0) }, counting: counts)
    }

    /// Removes everything, including unreadable records.
    func removeAll(rest: RegistrationRest, in operation: borrowing Operation) async throws {
        await access.lock()
        defer { access.unlock() }
        let removals = HoldingsDocument.allCases.map { Change.remove(RecordName(scope: scope, name: $0.rawValue)) }
        let keyRemovals = try await keys.references().flatMap { keys.removal(of: $0) }
        var left = Holdings()
        left.clearAll(rest: rest, configuration)
        let additions = HoldingsChanges(from: Holdings(), to: left, scope: scope).changes
        try await vault.commit(removals + keyRemovals + additions, counting: true)
        replace(current ?? State(holdings: Holdings(), revision: 0), by: left)
    }

    private func replace(_ held: State, by next: Holdings) {
        var next = next
        next.keys = next.keys.filter { next.references.contains($0.key) }
        current = State(holdings: next, revision: held.revision + 1)
        switch (held.holdings.lock, next.lock) {
        case (nil, let lock?): events.send(.sessionLock(.didLock(userName: lock.userName)))
        case (let lock?, nil):
            events.send(
                .sessionLock(
                    next.user == nil ? .didRemove(userName: lock.userName) : .didUnlock(userName: lock.userName)))
        case (nil, nil):
            if let user = held.holdings.user, next.user == nil, next.userFault == nil {
                events.send(.userDidLogout(userName: user.name))
            }
        case (.some, .some): break
        }
    }
}
