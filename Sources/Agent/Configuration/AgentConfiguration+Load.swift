import Bluetooth
import FoundationEssentials
import Glibc
import Groundwork
import Logging
import Settings

extension AgentConfiguration {
    /// Reads the file at `path`, or at ``defaultPath`` where that exists, else takes the defaults.
    ///
    /// - Throws: ``ConfigurationError`` that names every fault of the file.
    public static func load(path: String?) throws(ConfigurationError) -> AgentConfiguration {
        guard let path = path ?? (access(defaultPath, F_OK) == 0 ? defaultPath : nil) else {
            return AgentConfiguration().placedBySystemd(ProcessInfo.processInfo.environment)
        }
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(path, limit: SettingsDocument.limit, .anything)
        } catch {
            throw .unreadable(path: path, reason: error.description)
        }
        return try AgentConfiguration(bytes: bytes, path: path).placedBySystemd(ProcessInfo.processInfo.environment)
    }

    /// Directories that systemd made for this very service win over the defaults, never over the file.
    func placedBySystemd(_ environment: [String: String]) -> AgentConfiguration {
        var placed = self
        let defaults = AgentConfiguration()
        if stateDirectory == defaults.stateDirectory, let directory = environment["STATE_DIRECTORY"],
            !directory.contains(":")
        {
            placed.stateDirectory = directory
        }
        if api.socket == defaults.api.socket, let directory = environment["RUNTIME_DIRECTORY"], !directory.contains(":")
        {
            placed.api.socket = "\(directory)/api.sock"
        }
        return placed
    }

    /// - Throws: ``ConfigurationError``
    init(bytes: [UInt8], path: String) throws(ConfigurationError) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .unreadable(path: path, reason: "it is not UTF-8")
        }
        try self.init(toml: text, path: path)
    }

    /// - Throws: ``ConfigurationError/faults(path:_:)`` with every fault; unknown keys are faults, since they are nearly always
    ///   typing errors.
    public init(toml: String, path: String) throws(ConfigurationError) {
        self.init()
        let members: [String: JSON]
        do {
            members = try SettingsDocument.parse(toml)
        } catch {
            throw .faults(path: path, [error])
        }
        var root = SettingsTable(members)
        root.table("agent") { table in
            table.string("state_directory", &stateDirectory, .absolutePath)
            table.choice("log_level", &logLevel, Logger.Level.allCases.map { ("\($0)", $0) })
        }
        root.table("vault") { table in
            table.choice("slot", &vault.slot, VaultSettings.Slot.allCases.map { ($0.rawValue, $0) })
            table.string("credential", &vault.credential, .plainName)
            table.string("passphrase_file", &vault.passphraseFile, .absolutePathOrEmpty)
            table.string("development_key_file", &vault.developmentKeyFile, .absolutePathOrEmpty)
        }
        root.table("api") { table in
            table.string("socket", &api.socket, .absolutePath)
            table.string("group", &api.group, .any)
            table.strings("read", &api.read)
            table.strings("publish", &api.publish)
            table.strings("operate", &api.operate)
        }
        root.table("board") { table in
            table.string("definition", &board.definition, .notEmpty)
            table.strings("directories", &board.directories)
        }
        root.table("telemetry") { table in
            table.flag("enabled", &telemetry.enabled)
            table.string("topic", &telemetry.topic, .topic)
            table.integer("qos", &telemetry.qos, in: 0...2)
        }
        root.table("broker") { table in
            table.string("host", &broker.host, .hostOrEmpty)
            table.integer("port", &broker.port, in: 0...65_535)
            table.integer("keep_alive_seconds", &broker.keepAliveSeconds, in: 5...65_535)
            table.string("status_topic", &broker.statusTopic, .topic)
            table.string("topic_version", &broker.topicVersion, .topicLevel)
            table.integer("window", &broker.window, in: 1...1000)
        }
        root.table("outbox") { table in
            table.integer("limit_bytes", &outbox.limitBytes, in: 65_536...(1 << 40))
            table.integer("max_age_hours", &outbox.maxAgeHours, in: 1...87_600)
            table.integer("payload_limit_bytes", &outbox.payloadLimitBytes, in: 1024...OutboxSettings.greatestPayload)
            table.flag("durable", &outbox.durable)
        }
        root.table("gateway") { table in
            table.string("device_name", &gateway.deviceName, .any)
            table.integer("renew_days", &gateway.renewDays, in: 1...365)
        }
        root.table("bluetooth") { table in
            table.choice(
                "transport", &bluetooth.transport, BluetoothChoice.Preference.allCases.map { ($0.rawValue, $0) })
            table.string("adapter", &bluetooth.adapter, .any)
            table.flag("private", &bluetooth.isPrivate)
        }
        root.table("proximity") { table in
            table.choice("share", &proximity.share, ProximitySettings.Share.allCases.map { ($0.rawValue, $0) })
            table.integer("share_minutes", &proximity.shareMinutes, in: 1...1440)
            table.integer("consent_seconds", &proximity.consentSeconds, in: 5...110)
            table.integer("requests_per_minute", &proximity.requestsPerMinute, in: 1...60)
            table.integer("least_signal", &proximity.leastSignal, in: -127...0)
            table.flag("require_encryption", &proximity.requireEncryption)
        }
        root.refuseUnknownKeys()
        guard root.faults.isEmpty else { throw .faults(path: path, root.faults) }
    }
}
