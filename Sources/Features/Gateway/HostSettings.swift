import AgentCore
import Cryptography
import Gateway
import Groundwork
import HTTPClient
import Settings

/// The hosts of the settings file: an array of tables, `[[hosts]]`.
extension HostSecurity {
    /// The largest file of certificates, in bytes.
    private static let fileLimit = 65_536

    package static func read(from root: inout SettingsTable) -> (hosts: [HostSecurity], faults: [SettingsFault]) {
        var hosts: [HostSecurity] = []
        var faults: [SettingsFault] = []
        for var table in root.tables("hosts", atMost: HostList.limit) {
            if let host = read(&table) {
                if hosts.contains(where: { $0.name == host.name }) {
                    table.note("host", "\(host.name) is used twice", fix: "keep one")
                }
                hosts.append(host)
            }
            faults += table.faults
        }
        return (hosts, faults)
    }

    private static func read(_ table: inout SettingsTable) -> HostSecurity? {
        let text = table.string("host", required: "write the host and its port, such as \"api.example:8443\"") ?? ""
        var (isPublic, usesPublicAuthorities, check) = (false, false, ServerTrust.NameCheck.strict)
        table.flag("public", &isPublic)
        table.flag("public_authorities", &usesPublicAuthorities)
        table.choice("name_check", &check, ServerTrust.NameCheck.allCases.map { ($0.rawValue, $0) })
        let seconds = table.integer("timeout_seconds", in: 1...timeoutLimit)
        let anchors = (table.strings("certificates") ?? []).flatMap { certificates(in: $0, &table) }
        let pins = (table.strings("pins") ?? []).compactMap { text in
            let pin = PublicKeyPin(text.trimmed)
            if pin == nil { table.note("pins", "contains no hash", fix: "write a SHA-256 in hexadecimal or base64") }
            return pin
        }
        table.refuseUnknownKeys()
        guard table.faults.isEmpty else { return nil }
        let parts = HostName.split(text)
        do {
            return try HostSecurity(
                host: parts.host, port: parts.port.map { Int($0) ?? 0 } ?? 443, isPublic: isPublic,
                anchors: anchors, pins: pins, usesPublicAnchors: usesPublicAuthorities, nameCheck: check,
                timeout: seconds.map { .seconds($0) })
        } catch {
            table.note("host", error.message, fix: error.remedy ?? "")
            return nil
        }
    }

    private static func certificates(in path: String, _ table: inout SettingsTable) -> [Certificate] {
        table.certificates(in: path, limit: fileLimit) ?? []
    }
}

extension AgentConfiguration {
    package var hosts: [HostSecurity] {
        get { self[TypedList<HostSecurity>.self].all }
        set { self[TypedList<HostSecurity>.self].all = newValue }
    }
}
