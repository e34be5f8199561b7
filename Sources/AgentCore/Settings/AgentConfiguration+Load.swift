import Groundwork
import Settings

extension AgentConfiguration {
    package static func text(of bytes: [UInt8], at path: String) throws(ConfigurationError) -> String {
        do throws(ReceivedText.Fault) {
            return try ReceivedText.decode(bytes)
        } catch {
            throw .unreadable(path: path, reason: error.reason)
        }
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
