import AgentCore
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI
import Synchronization

/// The record of what programs did in the name of the board or its user: uses, refusals, and each change of grants.
/// What repeats is counted and recorded now and then. Kept across restarts, in files of bounded size.
package final class GrantLog: Sendable {
    /// What is remembered of uses and refusals, and the most users; beyond it all is forgotten.
    private static let limit = 512
    /// What repeats within this time of its last record is counted only.
    private static let (pauseOfUses, pauseOfRefusals) = (Duration.seconds(3600), Duration.seconds(60))
    /// The most records about a user's programs in a minute: a program that invents hosts and scopes must not push
    /// other records out of the files.
    private static let recordsPerMinute = 10

    /// A record that has to be written.
    package struct Due: Equatable {
        /// How often it happened since the last record of it, this time included.
        package var times: Int64
        /// How many other records about this user were left out since.
        package var omitted: Int64
    }

    private struct Key: Hashable {
        let uid: UInt32
        let unit: String?
        let use: GrantUse
        let grant: String?
        let isRefusal: Bool
    }
    private struct Repeats {
        var since: ContinuousClock.Instant
        var count: Int64 = 0
    }
    private struct User {
        var since: ContinuousClock.Instant
        var records = 0
        var omitted: Int64 = 0
    }
    private struct State {
        var repeats: [Key: Repeats] = [:]
        var users: [UInt32: User] = [:]
        var lastID: Int64 = 0
    }
    private let state = Mutex(State())
    private let file: AuditLog

    package init(directory: String) { file = AuditLog(directory: directory, name: "grants") }

    /// - Returns: `nil` if it is counted only.
    package func due(
        _ program: LocalProgram, _ use: GrantUse, _ grant: String?, isRefusal: Bool, now: ContinuousClock.Instant = .now
    ) -> Due? {
        // All paths of a host are one use, with whatever scopes: a record has neither.
        var use = use
        use.target?.segments = []
        use.scopes = []
        let uid = program.peer.uid
        let key = Key(uid: uid, unit: program.peer.unit, use: use, grant: grant, isRefusal: isRefusal)
        return state.withLock { state in
            let known = state.repeats[key]
            if let known, now - known.since < (isRefusal ? Self.pauseOfRefusals : Self.pauseOfUses) {
                state.repeats[key]?.count += 1
                return nil
            }
            if state.users.count >= Self.limit { state.users = [:] }
            var user = state.users[uid] ?? User(since: now)
            defer { state.users[uid] = user }
            if now - user.since >= .seconds(60) { (user.since, user.records) = (now, 0) }
            guard user.records < Self.recordsPerMinute else {
                user.omitted += 1
                return nil
            }
            user.records += 1
            if state.repeats.count >= Self.limit { state.repeats = [:] }
            state.repeats[key] = Repeats(since: now)
            defer { user.omitted = 0 }
            return Due(times: (known?.count ?? 0) + 1, omitted: user.omitted)
        }
    }

    package static func entry(_ program: LocalProgram, _ use: GrantUse) -> [String: JSON] {
        var entry = program.members
        switch use.store {
        case .own: entry["storeOf"] = .integer(Int64(program.peer.uid))
        case .of(let uid): entry["storeOf"] = .integer(Int64(uid))
        case nil: entry["account"] = .string(use.account.text)
        }
        entry["as"] = use.principal.map { .string($0.rawValue) }
        entry["host"] = use.target.map { .string($0.host) }
        return entry
    }

    /// Returns when it is on disk.
    ///
    /// - Throws: ``AgentError/stateDirectory(path:reason:)``
    package func write(_ entry: [String: JSON], at time: Date, isRefusal: Bool) async throws(AgentError) {
        var entry = entry
        entry["time"] = .string(time.formatted(.iso8601))
        entry["id"] = .integer(
            state.withLock { state in
                state.lastID += 1
                return state.lastID
            })
        try await file.append(.object(entry), isRefusal: isRefusal)
    }

    package func newest(_ count: Int) async -> [JSON] { await file.newest(count) }
}
