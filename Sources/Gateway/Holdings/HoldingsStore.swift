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
        for document in HoldingsDocument.allCases {
            let name = document.rawValue
            records[name] = try await vault.record(RecordName(scope: scope, name: name))?.content
        }
        var holdings = try HoldingsReader(records: records).holdings(at: clocks.now)
        try await loadKeys(of: &holdings)
        return holdings
    }

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

    /// Writes a new state to disk, then uses it.
    ///
    /// - Parameter next: made from the current state, inside the same operation.
    func commit(_ next: Holdings, in operation: borrowing Operation) async throws {
        await access.lock()
        defer { access.unlock() }
        let held = try await loaded()
        try await write(from: held.holdings, to: next)
        replace(held, by: next)
    }

    /// Applies `change` to the current state and commits the result as ``commit(_:in:)`` does.
    func update(in operation: borrowing Operation, _ change: @Sendable (inout Holdings) -> Void) async throws {
        var next = try await holdings()
        change(&next)
        try await commit(next, in: operation)
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
            if let user = held.holdings.user, next.user == nil { events.send(.userDidLogout(userName: user.name)) }
        case (.some, .some): break
        }
    }
}
