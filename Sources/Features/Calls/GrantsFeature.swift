import AgentCore
import Groundwork
import LocalAPI
import Settings

/// The table `[programs]`.
package struct ProgramSettings: TypedValue {
    /// How long a person is asked about what no grant decides; 0: not at all.
    package var askSeconds = 0

    package init() {}
}

/// Which local programs may act in the name of the board or its user.
package struct GrantsFeature: Feature {
    package let host: Host
    package let authorizer: CallAuthorizer

    package init(_ host: Host) {
        self.host = host
        authorizer = CallAuthorizer(host)
        host.accounts.install(authorizer)
    }

    package static func compare(with machine: inout MachineComparison) {
        let programs = machine.configuration.grants.enumerated().flatMap { index, grant in
            [
                ("grants[\(index)].user", grant.user),
                ("grants[\(index)].group", grant.group.isEmpty ? "" : "@\(grant.group)"),
            ]
        }
        let group = machine.configuration[ProxySettings.self].group
        for (key, name) in programs + [("proxy.group", group.isEmpty ? "" : "@\(group)")]
        where !name.isEmpty && !AccessPolicy.knows(name) {
            machine.fail(key, "\(name) does not exist on this machine", fix: "write a name that getent(1) finds")
        }
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        let (grants, faults) = GrantSettings.read(from: &root)
        configuration.grants = grants
        root.adopt(faults)
        root.table("programs") {
            $0.integer("ask_seconds", &configuration[ProgramSettings.self].askSeconds, in: 0...3600)
        }
    }

    package func prepare() throws { try authorizer.setGrants() }

    package func resume() async { await authorizer.load() }

    package func addRoutes(to router: inout Router) { addGrantRoutes(to: &router) }

    package static var recordRules: RecordRules { RecordRules(kept: [GrantBook.record]) }

    package static var errors: [any Explained.Type] { [GrantError.self] }

    package static var events: [any ReportedEvent.Type] { [GrantEvent.self] }
}
