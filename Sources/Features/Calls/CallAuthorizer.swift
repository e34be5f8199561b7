import AgentCore
import AgentGateway
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI
import Prompts
import Synchronization
import Vault

/// Grants as the agent applies them: whom it asks, and what it records.
package struct CallAuthorizer: AccountGrants {
    package let host: Host
    package let book = GrantBook()
    package let log: GrantLog

    package init(_ host: Host) {
        self.host = host
        log = GrantLog(directory: host.settings.stateDirectory)
    }

    /// Takes the grants of the settings.
    ///
    /// - Throws: ``ConfigurationError/unknownPeer(name:)``
    package func setGrants() throws(ConfigurationError) {
        let fixed = try host.settings.grants.map { settings throws(ConfigurationError) in try settings.resolved() }
        book.set(fixed, asks: host.settings[ProgramSettings.self].askSeconds > 0)
    }

    /// Takes the grants that are stored.
    package func load() async {
        do {
            try await book.load(from: host.vault)
        } catch {
            host.report(AccountEvent.configurationUnusable(error))
        }
    }

    /// Whether a program may use the routes for calls and tokens at all.
    ///
    /// - Throws: ``LocalAPIError/accessDenied(user:method:path:permission:)``
    package func admit(_ request: LocalRequest) throws(LocalAPIError) {
        guard book.concerns(LocalProgram(request)) else { throw request.denied(.operate) }
    }

    /// Lets a program do something, after a person was asked if that is needed.
    ///
    /// - Parameter link: the account's.
    /// - Throws: ``GrantError``, ``PromptError``
    package func permit(_ program: LocalProgram, _ use: GrantUse, at link: Link) async throws -> CallAuthorization {
        switch book.decide(program, use) {
        case .allowed(let grant):
            var use = use
            use.principal = try await principal(of: program, use, at: link, by: grant)
            if let grant { book.count(grant) }
            await note(program, use, grant)
            return CallAuthorization(program, use, at: link)
        case .refused:
            await noteRefusal(program, use)
            throw GrantError.refused(program: program.name, use: use.text)
        case .missing:
            await noteRefusal(program, use)
            throw GrantError.missing(program: program.name, use: use.text)
        case .open:
            return try await ask(program, use, at: link)
        }
    }

    /// Lets a program use keys and credentials of a user ID. No person is asked.
    ///
    /// - Parameter owner: `nil` for the program's own.
    /// - Returns: the user ID.
    /// - Throws: ``GrantError``
    package func permit(_ program: LocalProgram, storeOf owner: UInt32?) async throws -> UInt32 {
        let owner = owner ?? program.peer.uid
        let use = GrantUse(account: .gateway, store: owner == program.peer.uid ? .own : .of(owner))
        // The right to operate is one to one's own.
        let judged = use.store == .own ? program : LocalProgram(peer: program.peer, isOwner: program.isOwner)
        switch book.decide(judged, use) {
        case .allowed(let grant):
            if let grant { book.count(grant) }
            await note(program, use, grant)
            return owner
        case .refused:
            await noteRefusal(program, use)
            throw GrantError.refused(program: program.name, use: use.text)
        case .missing, .open:
            await noteRefusal(program, use)
            throw GrantError.missing(program: program.name, use: use.text)
        }
    }

    /// In whose name a program acts: as it says, or as its grant allows; `nil` for those who need no grant and do not
    /// say.
    ///
    /// - Parameter grant: what allows it; `nil` if nothing has to.
    /// - Throws: ``GrantError/sessionPrivate``
    private func principal(
        of program: LocalProgram, _ use: GrantUse, at link: Link, by grant: ProgramGrant?
    ) async throws -> Principal? {
        guard let grant else { return use.principal }
        let allowed = use.principal.map { [$0] } ?? grant.principals
        return try await principal(of: program, use, at: link, among: allowed)
    }

    /// Without single sign-on the user's session is the agent's alone, and that of those who may operate it; programs
    /// by grant get the board's token (MAG 12.1).
    ///
    /// - Throws: ``GrantError/sessionPrivate``
    package func principal(
        of program: LocalProgram, _ use: GrantUse, at link: Link, among allowed: Set<Principal>
    ) async throws -> Principal {
        var allowed = allowed
        if !program.isOwner, !program.mayOperate, !link.gateway.singleSignOn { allowed.remove(.user) }
        guard let first = allowed.first else {
            await noteRefusal(program, use)
            throw GrantError.sessionPrivate
        }
        return allowed.count == 1 ? first : try await link.session.principal()
    }

    // MARK: Changing

    /// - Parameters:
    ///   - by: who makes the change.
    ///   - check: throws if the grant is not to be kept; no other change of the grants runs meanwhile.
    package func allow(
        _ grant: ProgramGrant, by: String, checking check: @Sendable () async throws -> Void = {}
    ) async throws -> ProgramGrant {
        let added = try await book.add(grant, in: host.vault) { added in
            try await check()
            try await record([
                "outcome": added.verdict == .never ? "never" : "allowed", "grant": .string(added.id), "by": .string(by),
            ])
            killPoint("grant-recorded")
        }
        host.report(GrantEvent.allowed(added, by: by))
        return added
    }

    package func revoke(_ id: String, by: String) async throws -> ProgramGrant {
        let removed = try await book.remove(id, in: host.vault)
        host.report(GrantEvent.revoked(removed, by: by))
        try? await record(["outcome": "revoked", "grant": .string(removed.id), "by": .string(by)])
        return removed
    }

    /// Ends what was allowed at an account, in the commit after which the account is another or none.
    ///
    /// - Parameter commit: makes that commit, with these changes too.
    /// - Throws: what the vault and `commit` throw
    package func ending<Value: Sendable>(
        at account: AccountName, _ commit: @Sendable ([Change]) async throws -> Value
    ) async throws -> Value {
        let (ended, value) = try await book.end(at: account, in: host.vault, commit)
        await noteEnd(of: ended, of: account, ["account": .string(account.text)])
        return value
    }

    /// The same at a host (`host:port`), in the commit after which it is trusted in another way, or no more.
    ///
    /// - Throws: what the vault and `commit` throw
    package func ending(
        atHost name: String, _ commit: @Sendable ([Change]) async throws -> Void
    ) async throws {
        await noteEnd(of: try await book.end(atHost: name, in: host.vault, commit).ended, ["host": .string(name)])
    }

    /// Reports and records grants that ended with what they were for.
    private func noteEnd(
        of ended: [ProgramGrant], of account: AccountName = .gateway, _ members: [String: JSON]
    ) async {
        let by = Answerer.agent.description
        for grant in ended {
            host.report(GrantEvent.revoked(grant, by: by), of: account)
            let entry: [String: JSON] = ["outcome": "revoked", "grant": .string(grant.id), "by": .string(by)]
            try? await record(entry.merging(members) { $1 })
        }
    }

    // MARK: Recording

    /// Returns when it is on disk; reports it if that fails.
    ///
    /// - Throws: ``AgentError/stateDirectory(path:reason:)``
    package func record(_ entry: [String: JSON], isRefusal: Bool = false) async throws(AgentError) {
        do throws(AgentError) {
            try await log.write(entry, at: host.time.now, isRefusal: isRefusal)
        } catch {
            host.report(GrantEvent.logFailed(error))
            throw error
        }
    }

    /// Records what a program does. What repeats within an hour is counted, and recorded with the next.
    package func note(_ program: LocalProgram, _ use: GrantUse, _ grant: ProgramGrant?) async {
        guard !program.isOwner, let due = log.due(program, use, grant?.id, isRefusal: false) else { return }
        host.report(GrantEvent.used(program, use, grant: grant?.id))
        await write(due, GrantLog.entry(program, use), "used", grant?.id)
    }

    /// Records a refusal. What repeats within a minute is counted, and recorded with the next.
    package func noteRefusal(_ program: LocalProgram, _ use: GrantUse) async {
        guard let due = log.due(program, use, nil, isRefusal: true) else { return }
        host.report(GrantEvent.refused(program, use))
        await write(due, GrantLog.entry(program, use), "refused", nil)
    }

    private func write(
        _ due: GrantLog.Due, _ entry: [String: JSON], _ outcome: String, _ grant: String?
    ) async {
        var entry = entry
        entry["outcome"] = .string(outcome)
        entry["grant"] = grant.map(JSON.string)
        entry["times"] = .integer(due.times)
        entry["omitted"] = due.omitted > 0 ? .integer(due.omitted) : nil
        // A grant that stands was recorded; a use of it may go on.
        try? await record(entry, isRefusal: outcome == "refused")
    }
}
