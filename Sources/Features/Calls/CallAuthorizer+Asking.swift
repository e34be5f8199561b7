import AgentCore
import AgentGateway
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI
import Prompts
import Synchronization
import Vault

/// Asking a person what a program may do.
extension CallAuthorizer {
    private static let choices = ["once", "always", "never"]

    package func ask(_ program: LocalProgram, _ use: GrantUse, at link: Link) async throws -> CallAuthorization {
        // The question names the user or the board for whom the program would act.
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
                try await book.questions(about: program.peer.uid).join(question) { [asked] _ in
                    guard try await self.settle(program, asked, at: link, person) else { return }
                    isForThis.withLock { $0 = true }
                }
            } catch {
                await noteRefusal(program, asked)
                throw error
            }
            switch book.decide(program, asked) {
            case .allowed(let grant):
                if let grant { book.count(grant) }
                await note(program, asked, grant)
                return CallAuthorization(program, asked, at: link, loggedInAt: person?.loggedInAt)
            case .open:
                // An answer for this once makes no grant.
                guard isForThis.withLock(\.self) else { continue }
                await note(program, asked, nil)
                return CallAuthorization(program, asked, at: link, isOnce: true, loggedInAt: person?.loggedInAt)
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

    /// - Returns: `nil` if it is in the board's name, or no user is logged in.
    private func person(for use: GrantUse, at session: GatewaySession) async throws -> Person? {
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
    private func settle(
        _ program: LocalProgram, _ asked: GrantUse, at link: Link, _ person: Person?
    ) async throws -> Bool {
        // What was asked before may have been answered for longer.
        switch book.decide(program, asked) {
        case .allowed: return false
        case .open: break
        case .refused, .missing: throw GrantError.refused(program: program.name, use: asked.text)
        }
        let account = asked.account.text
        guard !link.session.isClosed else { throw GrantError.accountChanged(account: account) }
        let question = try question(program, asked, person)
        let patience = Duration.seconds(host.settings[ProgramSettings.self].askSeconds)
        let (answer, answerer) = try await host.prompts.ask(question, patience: patience) { answer, _, answerer in
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
        _ = try await allow(grant, by: answerer.description) { [vault = host.vault] in
            // The account ends in a change of the grants, too: that came before and is seen, or ends this grant.
            let identity = try await Gateways(vault: vault).accounts()[account]
            guard answer == "never" || identity == link.gateway.identity else {
                throw GrantError.accountChanged(account: account)
            }
        }
        guard answer != "never" else { throw GrantError.refused(program: program.name, use: asked.text) }
        return false
    }

    /// - Throws: ``GrantError/notAskable(limit:)`` if the question would not show all that is asked for.
    private func question(
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
}
