import FoundationEssentials
import Glibc
import Groundwork
import Settings

extension AgentConfiguration {
    /// Reads the file at `path`, or at ``defaultPath`` if that exists, else uses the defaults.
    ///
    /// - Parameter features: each reads its own tables.
    /// - Throws: ``ConfigurationError`` that names every fault of the file.
    package static func load(
        path: String?, of features: [any Feature.Type]
    ) throws(ConfigurationError) -> AgentConfiguration {
        var configuration = AgentConfiguration()
        if let path = path ?? (access(defaultPath, F_OK) == 0 ? defaultPath : nil) {
            let bytes: [UInt8]
            do {
                bytes = try BoundedFile.read(path, limit: SettingsDocument.limit, .anything)
            } catch {
                throw .unreadable(path: path, reason: error.description)
            }
            configuration = try AgentConfiguration(bytes: bytes, path: path, of: features)
        }
        configuration.placeBySystemd(ProcessInfo.processInfo.environment, of: features)
        return configuration
    }

    /// Directories that systemd created for this service override the defaults, never the file.
    package mutating func placeBySystemd(_ environment: [String: String], of features: [any Feature.Type]) {
        let defaults = AgentConfiguration()
        if stateDirectory == defaults.stateDirectory, let directory = environment["STATE_DIRECTORY"],
            !directory.contains(":")
        {
            stateDirectory = directory
        }
        guard let directory = environment["RUNTIME_DIRECTORY"], !directory.contains(":") else { return }
        if api.socket == defaults.api.socket { api.socket = "\(directory)/api.sock" }
        for feature in features { feature.placeSockets(in: directory, of: &self) }
    }

    package static func text(of bytes: [UInt8], at path: String) throws(ConfigurationError) -> String {
        do throws(ReceivedText.Fault) {
            return try ReceivedText.decode(bytes)
        } catch {
            throw .unreadable(path: path, reason: error.reason)
        }
    }

    /// - Throws: ``ConfigurationError``
    package init(bytes: [UInt8], path: String, of features: [any Feature.Type]) throws(ConfigurationError) {
        try self.init(toml: try Self.text(of: bytes, at: path), path: path, of: features)
    }

    /// - Parameter features: each reads its own tables.
    /// - Throws: ``ConfigurationError/faults(path:_:)`` with every fault; unknown keys are faults, because they are
    ///   almost always typos.
    package init(toml: String, path: String, of features: [any Feature.Type]) throws(ConfigurationError) {
        self.init()
        var root = SettingsTable(try Self.parse(toml, path: path))
        try read(&root, path: path, of: features)
    }

    private static func parse(_ toml: String, path: String) throws(ConfigurationError) -> [String: JSON] {
        do {
            return try SettingsDocument.parse(toml)
        } catch {
            throw .faults(path: path, [error])
        }
    }

    private mutating func read(_ root: inout SettingsTable, path: String, of features: [any Feature.Type])
        throws(ConfigurationError)
    {
        for feature in features { feature.readSettings(from: &root, into: &self) }
        root.refuseUnknownKeys()
        guard root.faults.isEmpty else { throw .faults(path: path, root.faults) }
    }

    /// Every setting with its value and its default, in the order of the features.
    ///
    /// - Throws: ``ConfigurationError/faults(path:_:)`` with every fault.
    package static func survey(
        toml: String, path: String, of features: [any Feature.Type]
    ) throws(ConfigurationError) -> [SurveyedSetting] {
        var configuration = AgentConfiguration()
        var root = SettingsTable(try parse(toml, path: path), isSurvey: true)
        try configuration.read(&root, path: path, of: features)
        return root.survey ?? []
    }
}
