import AgentCore
import FoundationEssentials
import Glibc
import Groundwork
import Settings

extension AgentConfiguration {
    /// Reads the file at `path`, or at ``defaultPath`` if that exists, else uses the defaults.
    ///
    /// - Throws: ``ConfigurationError`` that names every fault of the file.
    package static func load(path: String?) throws(ConfigurationError) -> AgentConfiguration {
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

    /// Directories that systemd created for this service override the defaults, never the file.
    func placedBySystemd(_ environment: [String: String]) -> AgentConfiguration {
        var placed = self
        let defaults = AgentConfiguration()
        if stateDirectory == defaults.stateDirectory, let directory = environment["STATE_DIRECTORY"],
            !directory.contains(":")
        {
            placed.stateDirectory = directory
        }
        if let directory = environment["RUNTIME_DIRECTORY"], !directory.contains(":") {
            if api.socket == defaults.api.socket { placed.api.socket = "\(directory)/api.sock" }
            if self[ProxyFeature.socket] == defaults[ProxyFeature.socket] {
                placed[ProxyFeature.socket] = "\(directory)/proxy.sock"
            }
        }
        return placed
    }

    /// - Throws: ``ConfigurationError``
    init(bytes: [UInt8], path: String) throws(ConfigurationError) {
        try self.init(toml: try Self.text(of: bytes, at: path), path: path)
    }

    /// - Throws: ``ConfigurationError/faults(path:_:)`` with every fault.
    package init(toml: String, path: String) throws(ConfigurationError) {
        try self.init(toml: toml, path: path, of: Features.all)
    }

    /// Every setting with its value and its default, in the order of the features.
    ///
    /// - Throws: ``ConfigurationError/faults(path:_:)`` with every fault.
    package static func survey(toml: String, path: String) throws(ConfigurationError) -> [SurveyedSetting] {
        try survey(toml: toml, path: path, of: Features.all)
    }
}
