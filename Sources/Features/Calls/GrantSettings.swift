import AgentCore
import Gateway
import Glibc
import Groundwork
import Settings

/// A grant of the settings file, `[[grants]]`, with users and groups by their names.
package struct GrantSettings: Sendable, Equatable {
    package var user = ""
    package var group = ""
    package var grant = ProgramGrant(id: "")

    package static func read(from root: inout SettingsTable) -> (grants: [GrantSettings], faults: [SettingsFault]) {
        var grants: [GrantSettings] = []
        var faults: [SettingsFault] = []
        for var table in root.tables("grants", atMost: ProgramGrant.limit) {
            let settings = read(&table)
            if grants.contains(where: { $0.grant.id == settings.grant.id }) {
                table.note("name", "\(settings.grant.id) is used twice", fix: "give each grant its own name")
            }
            grants.append(settings)
            table.refuseUnknownKeys()
            faults += table.faults
        }
        return (grants, faults)
    }

    private static func read(_ table: inout SettingsTable) -> GrantSettings {
        var settings = GrantSettings()
        let name = table.string("name", required: "choose a name, such as \"sensors\"") ?? ""
        if !name.isEmpty, AccountName(name) == nil || name.utf8.first.map({ (0x30...0x39).contains($0) }) == true {
            table.note(
                "name", "is not a name", fix: "use lower-case letters, digits and hyphens, and begin with a letter")
        }
        settings.grant.id = name
        table.string("user", &settings.user, .any)
        table.string("group", &settings.group, .any)
        var unit = ""
        table.string("unit", &unit, .any)
        if !unit.isEmpty {
            if !ProgramGrant.isUnit(unit) {
                table.note("unit", "is not the name of a unit", fix: "write it with .service or .scope at its end")
            }
            settings.grant.subject.unit = unit
        }
        if settings.user.isEmpty, settings.group.isEmpty, unit.isEmpty {
            table.note("user", "is missing, and so are group and unit", fix: "name the programs that the grant is for")
        }
        var isOfCalls = false
        func list(_ key: String, fix: String, _ isValid: (String) -> Bool) -> [String]? {
            guard let texts = table.texts(key) else { return nil }
            isOfCalls = true
            if let wrong = texts.first(where: { !isValid($0) }) {
                table.note(key, "contains \"\(DisplayText.clean(wrong))\", which is not allowed here", fix: fix)
            }
            return texts
        }
        if let names = list("as", fix: "use board and user", { Principal(rawValue: $0) != nil }) {
            settings.grant.principals = Set(names.compactMap(Principal.init))
        }
        if let names = list("accounts", fix: "use names of accounts", { AccountName($0) != nil }) {
            settings.grant.accounts = Set(names)
        }
        if let names = list("hosts", fix: "use gateway, or host:port", { ProgramGrant.host($0) != nil }) {
            settings.grant.hosts = Set(names.compactMap(ProgramGrant.host))
        }
        if let paths = list("paths", fix: "begin each with /; end a prefix with /*", ProgramGrant.isPath) {
            settings.grant.paths = paths
        }
        if let scopes = list("scopes", fix: "use scopes", ProgramGrant.isScope) { settings.grant.scopes = Set(scopes) }
        table.flag("token", &settings.grant.token)
        table.flag("store", &settings.grant.store)
        if let owners = table.integers("store_of", in: 0...Int(UInt32.max)) {
            settings.grant.storeOf = Set(owners.map { UInt32($0) })
        }
        if settings.grant.isOfStore, !isOfCalls, !settings.grant.token { settings.grant.allowOnlyStore() }
        return settings
    }

    /// Turns the names of user and group into numbers.
    ///
    /// - Throws: ``ConfigurationError/unknownPeer(name:)``
    package func resolved() throws(ConfigurationError) -> ProgramGrant {
        var grant = grant
        if !user.isEmpty {
            guard let entry = getpwnam(user) else { throw .unknownPeer(name: user) }
            grant.subject.uid = entry.pointee.pw_uid
        }
        if !group.isEmpty {
            guard let entry = getgrnam(group) else { throw .unknownPeer(name: "@\(group)") }
            grant.subject.gid = entry.pointee.gr_gid
        }
        return grant
    }
}

extension AgentConfiguration {
    package var grants: [GrantSettings] {
        get { self[TypedList<GrantSettings>.self].all }
        set { self[TypedList<GrantSettings>.self].all = newValue }
    }
}
