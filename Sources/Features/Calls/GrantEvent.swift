import AgentCore
import Gateway
import Groundwork

/// What programs did by grants.
package enum GrantEvent: ReportedEvent {
    /// A program did something in the name of the board or its user; the same again only after an hour.
    case used(LocalProgram, GrantUse, grant: String?)
    case refused(LocalProgram, GrantUse)
    case allowed(ProgramGrant, by: String)
    case revoked(ProgramGrant, by: String)
    /// The log of grants could not be written.
    case logFailed(AgentError)

    package static let meanings = [
        "grants.used":
            "a program acted in the name of the board or its user; reported at most once an hour",
        "grants.refused": "a program was not allowed to act in the name of the board or its user",
        "grants.allowed": "a user has set what a program may do, or may never do",
        "grants.revoked": "a user has revoked a grant",
        "grants.log-failed": "the actions of programs could not be recorded",
    ]

    package static var details: [String: Schema] {
        [
            "uid": .integer("user ID of the program"), "user": .string("name of that user"),
            "unit": .string("systemd unit of the program"), "host": .string("host that it calls"),
            "as": .string("whose token, if the program named it", choices: ["board", "user"]),
            "grant": .string("the grant that applied or was changed"), "by": .string("who changed it"),
        ]
    }

    package var report: EventReport {
        switch self {
        case .used(let program, let use, let grant):
            EventReport("grants.used", .routine, "\(program.name): \(use.text)", Self.fields(program, use, grant))
        case .refused(let program, let use):
            EventReport(
                "grants.refused", .notable, "\(program.name) may not \(use.text)", Self.fields(program, use, nil))
        case .allowed(let grant, let by):
            EventReport("grants.allowed", .notable, nil, ["grant": .string(grant.id), "by": .string(by)])
        case .revoked(let grant, let by):
            EventReport("grants.revoked", .notable, nil, ["grant": .string(grant.id), "by": .string(by)])
        case .logFailed(let error): EventReport("grants.log-failed", error: error)
        }
    }

    private static func fields(_ program: LocalProgram, _ use: GrantUse, _ grant: String?) -> [String: JSON] {
        var fields = program.members
        fields["host"] = use.target.map { .string($0.host) }
        fields["as"] = use.principal.map { .string($0.rawValue) }
        fields["grant"] = grant.map(JSON.string)
        return fields
    }
}
