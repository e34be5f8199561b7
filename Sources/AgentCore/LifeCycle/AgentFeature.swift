import Cryptography
import FoundationEssentials
import Groundwork
import HTTPClient
import LocalAPI
import Logging
import Settings
import Storage
import Vault

/// The agent itself: its version, its status and the doctor, also while the vault cannot be opened.
package struct AgentFeature: Feature {
    package let host: Host

    package init(_ host: Host) { self.host = host }

    package static var needsVault: Bool { false }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("agent") { table in
            table.string("state_directory", &configuration.stateDirectory, .absolutePath)
            table.choice("log_level", &configuration.logLevel, Logger.Level.allCases.map { ("\($0)", $0) })
        }
        root.table("api") { table in
            table.string("socket", &configuration.api.socket, .absolutePath)
            table.string("group", &configuration.api.group, .any)
            table.strings("read", &configuration.api.read)
            table.strings("publish", &configuration.api.publish)
            table.strings("operate", &configuration.api.operate)
            readListener(from: &table, into: &configuration.api)
        }
    }

    private static func readListener(from table: inout SettingsTable, into api: inout APISettings) {
        table.string("listen", &api.listen, .any)
        table.flag("beyond_loopback", &api.listensBeyondLoopback)
        table.strings("names", &api.names)
        if api.names.contains(where: { $0.isEmpty || $0.contains("/") || $0.contains(":") }) {
            table.note("names", "has what is not a host name", fix: "write names without scheme and port")
        }
        table.string("token_file", &api.tokenFile, .absolutePathOrEmpty)
        table.string("token_credential", &api.tokenCredential, .plainName)
        table.string("token_user", &api.tokenUser, .any)
        guard !api.listen.isEmpty else { return }
        guard let address = ListenAddress(api.listen), !address.isWildcard else {
            return table.note(
                "listen", "is not one numeric address with a port", fix: "write it as 127.0.0.1:9464 or [::1]:9464")
        }
        if !address.isLoopback, !api.listensBeyondLoopback {
            table.note(
                "listen", "is an address that other machines reach",
                fix: "use 127.0.0.1, or set beyond_loopback to true")
        }
    }

    package func addRoutes(to router: inout Router) { addStatusRoutes(to: &router) }

    package static var checks: [any HealthCheck] { [ClockCheck(), VaultCheck(), StorageCheck()] }

    package func examine(into state: inout AgentState) async throws {
        state.clockFile = host.time.path
        if let fault = host.vaultFault {
            state.vaultFaults = [fault]
        } else {
            state.vaultSlot = try await host.vault.openedBy().kind
            state.vaultFaults = try await host.vault.faults()
        }
        state.diskTrouble = StateDirectory.trouble(in: host.settings.stateDirectory)
        state.setAside = StateDirectory.setAside(in: host.settings.stateDirectory)
    }

    package static var statusMembers: [String: Schema] {
        [
            "version": .string("the agent's version"), "time": .time("time by the board's clock, or the best estimate"),
            "uptime": .integer("how long the agent has been running, in seconds"),
            "hostName": .string("the board's host name"),
            "warnings": .array(of: .string("for people"), "what should be changed although everything works"),
            "setAside": .array(of: .string("file name"), "damaged files that were kept"),
            "vault": .object(all: ["error": .problem], "Present while the sealed store cannot be opened"),
            "lastError": .lastError,
        ]
    }

    package func status() async throws -> [String: JSON] {
        var members: [String: JSON] = [
            "version": .string(Version.text), "time": .string(host.time.now.formatted(.iso8601)),
            "uptime": .integer((ContinuousClock.now - host.started).components.seconds),
            "hostName": .string(DisplayText.clean(ProcessInfo.processInfo.hostName)),
        ]
        let setAside = StateDirectory.setAside(in: host.settings.stateDirectory)
        if !setAside.isEmpty { members["setAside"] = .array(setAside.map(JSON.string)) }
        if let trouble = host.lastTrouble { members["lastError"] = trouble.json }
        if let fault = host.vaultFault {
            members["vault"] = ["error": .object(fault.explanation)]
            members["lastError"] = .object(fault.explanation)
            for feature in host.features { members.merge(type(of: feature).statusInStandby) { _, new in new } }
        }
        return members
    }

    package func warnings() async throws -> [String] {
        var warnings: [String] = []
        if let trouble = StateDirectory.trouble(in: host.settings.stateDirectory) { warnings.append(trouble) }
        if !host.time.isPlausible { warnings.append("the clock is wrong; the latest known time is used instead") }
        return warnings
    }

    package static var events: [any ReportedEvent.Type] { [ServiceEvent.self] }

    package static var recordRules: RecordRules { RecordRules(kept: [AccountRegistry.currentRecord]) }

    package static var errors: [any Explained.Type] {
        [
            AccountError.self, AgentError.self, ConfigurationError.self, CryptographyError.self, CurveError.self,
            HTTPError.self, JSONError.self, LocalAPIError.self, StorageError.self, UnexpectedError.self,
        ]
    }

    package static var libraries: [(name: String, version: String)] {
        [
            ("openssl", Cryptography.libraryVersion), ("curl", HTTPClient.libraryVersion),
            ("sqlite", Database.libraryVersion),
        ]
    }
}
