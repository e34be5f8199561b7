import AgentCore
import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI
import Synchronization
import Vault

/// All grants, with the calls that they allow at present. Those of the settings only the administrator changes; the
/// vault keeps those that people gave while the agent ran.
package final class GrantBook: Sendable {
    static let record = RecordName(scope: "", name: "grants")

    package enum Decision {
        case allowed(ProgramGrant?)
        /// A grant says so.
        case refused
        /// Nothing allows it.
        case missing
        /// A person is to be asked.
        case open
    }

    private struct State {
        var fixed: [ProgramGrant] = []
        var kept: [ProgramGrant] = []
        var asks = false
        /// Whether the vault's grants are known: until then none is changed, so that none is lost.
        var isLoaded = false
        /// The highest number that a grant had: a number is never another's.
        var lastNumber: Int64 = 0
        /// By the grants' names and numbers.
        var uses: [String: Int64] = [:]
        var running: [ObjectIdentifier: CallAuthorization] = [:]
        var asking: [UInt32: SingleFlight<Question>] = [:]
    }
    private let state = Mutex(State())
    private let change = AsyncMutex()

    /// - Parameter asks: whether a person is asked about a program that no grant names.
    package func set(_ fixed: [ProgramGrant], asks: Bool) { state.withLock { ($0.fixed, $0.asks) = (fixed, asks) } }

    /// Those of the settings, then those that are kept.
    package var all: (fixed: [ProgramGrant], kept: [ProgramGrant]) { state.withLock { ($0.fixed, $0.kept) } }

    /// Whether the settings have grants: then programs may do only what these allow, and what was allowed since.
    package var isLimitedBySettings: Bool { state.withLock { !$0.fixed.isEmpty } }

    /// Whether what a program asks for must be read in one way only, as a grant may be about it.
    package func isLimited(_ program: LocalProgram) -> Bool {
        guard !program.isOwner else { return false }
        return !program.mayOperate
            || state.withLock { state in
                !state.fixed.isEmpty || state.kept.contains { $0.verdict == .never && $0.concerns(program.peer) }
            }
    }

    /// The units that are named; `nil` if units do not matter.
    package var units: Set<String>? {
        state.withLock { state in
            let units = Set((state.fixed + state.kept).compactMap(\.subject.unit))
            return units.isEmpty && !state.asks ? nil : units
        }
    }

    // MARK: Deciding

    package func decide(_ program: LocalProgram, _ use: GrantUse) -> Decision {
        state.withLock { decide(program, use, $0) }
    }

    private func decide(_ program: LocalProgram, _ use: GrantUse, _ state: State) -> Decision {
        // A program that may read the agent's memory gains nothing by a grant.
        if program.isOwner { return .allowed(nil) }
        func first(_ grants: [ProgramGrant], _ verdict: ProgramGrant.Verdict) -> ProgramGrant? {
            grants.first { $0.verdict == verdict && $0.concerns(program.peer) && $0.covers(use) }
        }
        if let grant = first(state.fixed, .allow) { return .allowed(grant) }
        if first(state.kept, .never) != nil { return .refused }
        // A grant beside the right to operate takes nothing of it away.
        if program.mayOperate, state.fixed.isEmpty { return .allowed(nil) }
        if let grant = first(state.kept, .allow) { return .allowed(grant) }
        return state.asks && !program.mayOperate ? .open : .missing
    }

    /// Whether the program may do anything at all: if not, the route is closed to it as any other.
    package func concerns(_ program: LocalProgram) -> Bool {
        program.isOwner || program.mayOperate
            || state.withLock { state in
                state.asks || (state.fixed + state.kept).contains { $0.concerns(program.peer) }
            }
    }

    /// Counts a use of a grant.
    package func count(_ grant: ProgramGrant) { state.withLock { $0.uses[grant.id, default: 0] += 1 } }

    package func uses(of grant: ProgramGrant) -> Int64 { state.withLock { $0.uses[grant.id] ?? 0 } }

    // MARK: Asking

    /// What a person is asked about a user's program.
    package struct Question: Hashable {
        /// At which gateway.
        package let session: ObjectIdentifier
        package let unit: String?
        package let use: GrantUse
        /// When the user logged in whom the question names; `nil` if it names none.
        package let loggedInAt: Date?
    }

    /// The questions about a user's programs, which are asked one after another: a program that wants many things must
    /// not take the places of all others on the desk.
    package func questions(about uid: UInt32) -> SingleFlight<Question> {
        state.withLock { state in
            if let asking = state.asking[uid] { return asking }
            if state.asking.count >= ProgramGrant.limit { state.asking = [:] }
            let asking = SingleFlight<Question>()
            state.asking[uid] = asking
            return asking
        }
    }

    // MARK: What is under way

    /// Remembers what runs by a decision, until ``end(_:)``.
    package func begin(_ permit: CallAuthorization) { state.withLock { $0.running[ObjectIdentifier(permit)] = permit } }

    package func end(_ permit: CallAuthorization) {
        state.withLock { _ = $0.running.removeValue(forKey: ObjectIdentifier(permit)) }
    }

    // MARK: Changing

    /// - Throws: what the vault throws
    package func load(from vault: Vault) async throws {
        guard let record = try await vault.record(Self.record) else {
            return state.withLock { $0.isLoaded = true }
        }
        let stored = try? JSON(parsing: record.content.exposed())
        guard let list = stored?["grants"]?.array, let last = stored?["last"]?.integer else {
            throw AgentError.badRequest(member: "the stored list of grants", fault: "is not readable")
        }
        let grants = try list.map { json throws(AgentError) in
            try ProgramGrant(json: json, id: json["id"]?.string ?? "")
        }
        state.withLock { ($0.kept, $0.lastNumber, $0.isLoaded) = (grants, last, true) }
    }

    /// Keeps a grant, instead of one about the same programs and the same use.
    ///
    /// - Returns: the grant with its number.
    /// - Parameter prepare: takes the grant with its number before it is kept, and throws if it is not to be kept; no
    ///   other change of the grants runs meanwhile.
    /// - Throws: ``GrantError/tooMany(limit:)``, ``AgentError/badRequest(member:fault:)``, what the vault and `prepare`
    ///   throw
    package func add(
        _ grant: ProgramGrant, in vault: Vault, preparing prepare: @Sendable (ProgramGrant) async throws -> Void
    ) async throws -> ProgramGrant {
        // What could not be read again would make all of the list unreadable.
        let readable = try ProgramGrant(json: grant.json(isInSettings: false), id: "")
        return try await update(in: vault) { grants, last in
            var (added, other) = (readable, readable)
            grants.removeAll {
                (other.id, other.verdict) = ($0.id, $0.verdict)
                return $0 == other
            }
            guard grants.count < ProgramGrant.limit else { throw GrantError.tooMany(limit: ProgramGrant.limit) }
            last += 1
            added.id = "\(last)"
            grants.append(added)
            return added
        } commit: { added, changes in
            try await prepare(added)
            try await vault.commit(changes)
            return added
        }
    }

    /// - Throws: ``GrantError/unknown(id:)``, ``GrantError/inSettings(id:)``, what the vault throws
    package func remove(_ id: String, in vault: Vault) async throws -> ProgramGrant {
        guard !state.withLock({ $0.fixed.contains { $0.id == id } }) else { throw GrantError.inSettings(id: id) }
        return try await update(in: vault) { grants, _ in
            guard let index = grants.firstIndex(where: { $0.id == id }) else { throw GrantError.unknown(id: id) }
            return grants.remove(at: index)
        } commit: { removed, changes in
            try await vault.commit(changes)
            return removed
        }
    }

    /// Ends what kept grants allow at an account, in the commit after which the account is another or none: they were
    /// given for what it was.
    ///
    /// - Parameter commit: makes that commit, with these changes too.
    /// - Returns: the grants that allowed something there, as they were, and what `commit` returns.
    /// - Throws: what the vault and `commit` throw
    package func end<Value: Sendable>(
        at account: AccountName, in vault: Vault, _ commit: @Sendable ([Change]) async throws -> Value
    ) async throws -> (ended: [ProgramGrant], Value) {
        try await end(in: vault, leaving: { $0.ending(at: account) }, commit)
    }

    /// Ends what kept grants allow at a host, in the commit after which it is trusted in another way, or no more.
    ///
    /// - Parameters:
    ///   - host: `host:port`.
    ///   - commit: makes that commit, with these changes too.
    /// - Returns: the grants that allowed something there, as they were, and what `commit` returns.
    /// - Throws: what the vault and `commit` throw
    package func end<Value: Sendable>(
        atHost host: String, in vault: Vault, _ commit: @Sendable ([Change]) async throws -> Value
    ) async throws -> (ended: [ProgramGrant], Value) {
        try await end(in: vault, leaving: { $0.ending(atHost: host) }, commit)
    }

    private func end<Value: Sendable>(
        in vault: Vault, leaving rest: (ProgramGrant) -> ProgramGrant?,
        _ commit: @Sendable ([Change]) async throws -> Value
    ) async throws -> (ended: [ProgramGrant], Value) {
        do {
            return try await update(in: vault) { grants, _ in
                let ended = grants.filter { rest($0) != $0 }
                grants = grants.compactMap(rest)
                return ended
            } commit: { ended, changes in
                (ended, try await commit(changes))
            }
        } catch let error where !state.withLock(\.isLoaded) && Self.isOfList(error) {
            // A stored list that is not readable allows nothing, and must not keep the board at its gateway.
            return ([], try await commit([]))
        }
    }

    /// Whether an error is about the stored list alone, which is then unreadable for good.
    private static func isOfList(_ error: any Error) -> Bool {
        switch error {
        case is AgentError: true
        case VaultError.recordDamaged, VaultError.recordRolledBack, VaultError.recordMissing,
            VaultError.recordDisplaced:
            true
        default: false
        }
    }

    /// One change at a time, in the vault before it applies. What is under way and no longer allowed ends at once.
    ///
    /// - Parameters:
    ///   - body: changes the grants, and the highest number that one had.
    ///   - commit: takes what `body` returns, and stores the changes.
    private func update<Changed: Sendable, Value: Sendable>(
        in vault: Vault, _ body: (inout [ProgramGrant], inout Int64) throws -> Changed,
        commit: (Changed, [Change]) async throws -> Value
    ) async throws -> Value {
        await change.lock()
        defer { change.unlock() }
        if state.withLock({ !$0.isLoaded }) { try await load(from: vault) }
        var (grants, last) = state.withLock { ($0.kept, $0.lastNumber) }
        let changed = try body(&grants, &last)
        let stored = JSON.object([
            "last": .integer(last), "grants": .array(grants.map { $0.json(isInSettings: false) }),
        ])
        let isChanged = grants != state.withLock(\.kept)
        let value = try await commit(
            changed, isChanged ? [.put(Self.record, .configuration, SecretBytes(stored.bytes))] : [])
        let ended = state.withLock { state in
            (state.kept, state.lastNumber) = (grants, last)
            let names = Set((state.fixed + grants).map(\.id))
            state.uses = state.uses.filter { names.contains($0.key) }
            return state.running.values.filter { permit in
                switch decide(permit.program, permit.use, state) {
                case .allowed: false
                case .refused: true
                // A person allowed it this once.
                case .missing, .open: !permit.isOnce
                }
            }
        }
        for permit in ended { permit.revoke() }
        return value
    }
}
