import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI
import Prompts
import Synchronization
import Vault

/// Grants as the agent applies them: whom it asks, and what it records.
extension Agent {
    private static let choices = ["once", "always", "never"]

    /// Takes the grants of the settings.
    ///
    /// - Throws: ``ConfigurationError/unknownPeer(name:)``
    nonisolated func setGrants() throws(ConfigurationError) {
        let fixed = try configuration.grants.map { settings throws(ConfigurationError) in try settings.resolved() }
        grants.set(fixed, asks: configuration[GrantsFeature.askSeconds] > 0)
    }

    /// Whether a program may use the routes for calls and tokens at all.
    ///
    /// - Throws: ``LocalAPIError/accessDenied(user:method:path:permission:)``
    nonisolated func admit(_ request: LocalRequest) throws(LocalAPIError) {
        guard grants.concerns(LocalProgram(request)) else { throw request.denied(.operate) }
    }

    /// Lets a program do something, after a person was asked if that is needed.
    ///
    /// - Parameter link: the account's.
    /// - Throws: ``GrantError``, ``PromptError``
    nonisolated func permit(_ program: LocalProgram, _ use: GrantUse, at link: Link) async throws -> Permit {
        switch grants.decide(program, use) {
        case .allowed(let grant):
            var use = use
            use.principal = try await principal(of: program, use, at: link, by: grant)
            if let grant { grants.count(grant) }
            await note(program, use, grant)
            return Permit(program, use, at: link)
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

    /// In whose name a program acts: as it says, or as its grant allows; `nil` for those who need no grant and do not
    /// say.
    ///
    /// - Parameter grant: what allows it; `nil` if nothing has to.
    /// - Throws: ``GrantError/sessionPrivate``
    private nonisolated func principal(
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
    private nonisolated func principal(
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

    // MARK: Asking

    private nonisolated func ask(_ program: LocalProgram, _ use: GrantUse, at link: Link) async throws -> Permit {
        // Asked about by its name: a person decides for somebody.
        var asked = use
        asked.principal = try await principal(
            of: program, use, at: link, among: use.principal.map { [$0] } ?? Set(Principal.allCases))
        let person = try await person(for: asked, at: link.session)
        var about = asked
        about.target?.segments = []
        let question = GrantBook.Question(
            session: ObjectIdentifier(link.session), unit: program.peer.unit, use: about,
            loggedInAt: person?.loggedInAt)
        let isForThis = Mutex(false)
        // Requests of the same kind wait for the same answer, but one for this once is for one of them: the others are
        // asked about again, one after another.
        while true {
            do {
                try await grants.questions(about: program.peer.uid).join(question) { [asked] _ in
                    guard try await self.settle(program, asked, at: link, person) else { return }
                    isForThis.withLock { $0 = true }
                }
            } catch {
                await noteRefusal(program, asked)
                throw error
            }
            switch grants.decide(program, asked) {
            case .allowed(let grant):
                if let grant { grants.count(grant) }
                await note(program, asked, grant)
                return Permit(program, asked, at: link, loggedInAt: person?.loggedInAt)
            case .open:
                // An answer for this once makes no grant.
                guard isForThis.withLock(\.self) else { continue }
                await note(program, asked, nil)
                return Permit(program, asked, at: link, isOnce: true, loggedInAt: person?.loggedInAt)
            case .refused, .missing:
                await noteRefusal(program, asked)
                throw GrantError.refused(program: program.name, use: asked.text)
            }
        }
    }

    /// The user in whose name it is, whether or not the session is locked.
    private struct Person: Sendable {
        let session: GatewaySession
        let name: String?
        let loggedInAt: Date
    }

    /// - Returns: `nil` if it is in the board's name, or nobody is logged in.
    private nonisolated func person(for use: GrantUse, at session: GatewaySession) async throws -> Person? {
        guard use.principal == .user else { return nil }
        if let user = try await session.user() {
            return Person(session: session, name: user.userName, loggedInAt: user.loggedInAt)
        }
        guard let lock = try await session.lockStatus() else { return nil }
        return Person(session: session, name: lock.userName, loggedInAt: lock.loggedInAt)
    }

    /// Asks a person, and keeps the answer if it is for longer.
    ///
    /// - Parameter person: the user whom the question names.
    /// - Returns: whether the answer is for this once.
    /// - Throws: ``GrantError/refused(program:use:)``, ``GrantError/accountChanged(account:)``, ``PromptError``,
    ///   `GatewayError.userRequired` if that user has logged out meanwhile
    private nonisolated func settle(
        _ program: LocalProgram, _ asked: GrantUse, at link: Link, _ person: Person?
    ) async throws -> Bool {
        // What was asked before may have been answered for longer.
        switch grants.decide(program, asked) {
        case .allowed: return false
        case .open: break
        case .refused, .missing: throw GrantError.refused(program: program.name, use: asked.text)
        }
        let account = asked.account.text
        guard !link.session.isClosed else { throw GrantError.accountChanged(account: account) }
        let question = try question(program, asked, person)
        let patience = Duration.seconds(configuration[GrantsFeature.askSeconds])
        let (answer, answerer) = try await prompts.ask(question, patience: patience) { answer, _, answerer in
            guard case .choice(let choice) = answer else { throw CancellationError() }
            return .right((choice, answerer))
        }
        // The answer is for the gateway and the user whom the question was about, not for those that came meanwhile.
        guard answer == "never" || !link.session.isClosed else { throw GrantError.accountChanged(account: account) }
        if answer != "never", let person { _ = try await person.session.user(loggedInAt: person.loggedInAt) }
        guard answer != "once" else {
            var entry = GrantLog.entry(program, asked)
            (entry["outcome"], entry["by"]) = ("once", .string(answerer.description))
            try await record(entry)
            return true
        }
        var grant = ProgramGrant(id: "", subject: program.subject)
        grant.verdict = answer == "never" ? .never : .allow
        grant.principals = asked.principal.map { [$0] } ?? []
        (grant.accounts, grant.scopes) = ([asked.account.text], asked.scopes)
        if let target = asked.target { grant.hosts = [target.host] } else { (grant.token, grant.paths) = (true, []) }
        _ = try await allow(grant, by: answerer.description) { [gateways] in
            // The account ends in a change of the grants, too: that came before and is seen, or ends this grant.
            let identity = try await gateways.accounts()[account]
            guard answer == "never" || identity == link.gateway.identity else {
                throw GrantError.accountChanged(account: account)
            }
        }
        guard answer != "never" else { throw GrantError.refused(program: program.name, use: asked.text) }
        return false
    }

    /// - Throws: ``GrantError/notAskable(limit:)`` if the question would not show all that is asked for.
    private nonisolated func question(
        _ program: LocalProgram, _ use: GrantUse, _ person: Person?
    ) throws(GrantError) -> PromptQuestion {
        let name = use.principal == .user ? DisplayText.clean(person?.name ?? "the user") : "the board"
        let scopes = use.scopes.isEmpty ? "" : " for " + use.scopes.sorted().joined(separator: ", ")
        let text = "\(program.name) wants to \(use.text) as \(name)\(scopes)"
        guard text.unicodeScalars.count <= PromptQuestion.textLimit else {
            throw .notAskable(limit: PromptQuestion.textLimit)
        }
        return PromptQuestion(.choice, text, choices: Self.choices)
    }

    // MARK: Changing

    /// - Parameters:
    ///   - by: who makes the change.
    ///   - check: throws if the grant is not to be kept; no other change of the grants runs meanwhile.
    nonisolated func allow(
        _ grant: ProgramGrant, by: String, checking check: @Sendable () async throws -> Void = {}
    ) async throws -> ProgramGrant {
        let added = try await grants.add(grant, in: vault) { added in
            try await check()
            try await record([
                "outcome": added.verdict == .never ? "never" : "allowed", "grant": .string(added.id), "by": .string(by),
            ])
            killPoint("grant-recorded")
        }
        report(GrantEvent.allowed(added, by: by))
        return added
    }

    nonisolated func revoke(_ id: String, by: String) async throws -> ProgramGrant {
        let removed = try await grants.remove(id, in: vault)
        report(GrantEvent.revoked(removed, by: by))
        try? await record(["outcome": "revoked", "grant": .string(removed.id), "by": .string(by)])
        return removed
    }

    /// Ends what was allowed at an account, in the commit after which the account is another or none.
    ///
    /// - Parameter commit: makes that commit, with these changes too.
    /// - Throws: what the vault and `commit` throw
    nonisolated func endingGrants<Value: Sendable>(
        at account: AccountName, _ commit: @Sendable ([Change]) async throws -> Value
    ) async throws -> Value {
        let (ended, value) = try await grants.end(at: account, in: vault, commit)
        await noteEnd(of: ended, of: account, ["account": .string(account.text)])
        return value
    }

    /// The same at a host (`host:port`), in the commit after which it is trusted in another way, or no more.
    ///
    /// - Throws: what the vault and `commit` throw
    nonisolated func endingGrants(
        atHost host: String, _ commit: @Sendable ([Change]) async throws -> Void
    ) async throws {
        await noteEnd(of: try await grants.end(atHost: host, in: vault, commit).ended, ["host": .string(host)])
    }

    /// Reports and records grants that ended with what they were for.
    private nonisolated func noteEnd(
        of ended: [ProgramGrant], of account: AccountName = .gateway, _ members: [String: JSON]
    ) async {
        let by = Answerer.agent.description
        for grant in ended {
            report(GrantEvent.revoked(grant, by: by), of: account)
            let entry: [String: JSON] = ["outcome": "revoked", "grant": .string(grant.id), "by": .string(by)]
            try? await record(entry.merging(members) { $1 })
        }
    }

    // MARK: Recording

    /// Returns when it is on disk; reports it if that fails.
    ///
    /// - Throws: ``AgentError/stateDirectory(path:reason:)``
    private nonisolated func record(_ entry: [String: JSON], isRefusal: Bool = false) async throws(AgentError) {
        do throws(AgentError) {
            try await grantLog.write(entry, at: time.now, isRefusal: isRefusal)
        } catch {
            report(GrantEvent.logFailed(error))
            throw error
        }
    }

    /// Records what a program does. What repeats within an hour is counted, and recorded with the next.
    private nonisolated func note(_ program: LocalProgram, _ use: GrantUse, _ grant: ProgramGrant?) async {
        guard !program.isOwner, let due = grantLog.due(program, use, grant?.id, isRefusal: false) else { return }
        report(GrantEvent.used(program, use, grant: grant?.id))
        await write(due, GrantLog.entry(program, use), "used", grant?.id)
    }

    /// Records a refusal. What repeats within a minute is counted, and recorded with the next.
    nonisolated func noteRefusal(_ program: LocalProgram, _ use: GrantUse) async {
        guard let due = grantLog.due(program, use, nil, isRefusal: true) else { return }
        report(GrantEvent.refused(program, use))
        await write(due, GrantLog.entry(program, use), "refused", nil)
    }

    private nonisolated func write(
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
