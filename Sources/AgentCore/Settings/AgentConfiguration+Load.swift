import FoundationEssentials
import Groundwork
import Settings

extension AgentConfiguration {
    /// Reads the files of ``SettingsLayers/read(_:onlyOfRoot:)``; what none of them says has its default.
    ///
    /// - Parameter features: each reads its own tables.
    /// - Throws: ``ConfigurationError`` that names every fault of the files.
    package static func load(
        path: String?, of features: [any Feature.Type]
    ) throws(ConfigurationError) -> AgentConfiguration {
        var configuration = try AgentConfiguration(SettingsLayers.read(path), of: features)
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

    /// - Parameter features: each reads its own tables.
    /// - Throws: ``ConfigurationError/faults(path:_:)`` with every fault; unknown keys are faults, because they are
    ///   almost always typos.
    package init(_ layers: SettingsLayers, of features: [any Feature.Type]) throws(ConfigurationError) {
        self.init()
        var root = SettingsTable(layers.members)
        try read(&root, layers, of: features)
    }

    /// One file alone.
    package init(toml: String, path: String, of features: [any Feature.Type]) throws(ConfigurationError) {
        let layers: SettingsLayers
        do throws(SettingsFault) {
            layers = SettingsLayers(main: .init(path: path, members: try SettingsDocument.parse(toml)))
        } catch {
            throw .faults(path: path, [error])
        }
        try self.init(layers, of: features)
    }

    private mutating func read(_ root: inout SettingsTable, _ layers: SettingsLayers, of features: [any Feature.Type])
        throws(ConfigurationError)
    {
        for feature in features { feature.readSettings(from: &root, into: &self) }
        root.refuseUnknownKeys()
        guard root.faults.isEmpty else { throw .faults(path: layers.layers[0].path, root.faults.map(layers.placed)) }
    }

    /// Every setting with its value, its default and its files, in the order of the features.
    ///
    /// - Throws: ``ConfigurationError/faults(path:_:)`` with every fault.
    package static func survey(
        _ layers: SettingsLayers, of features: [any Feature.Type]
    ) throws(ConfigurationError) -> [SurveyedSetting] {
        var configuration = AgentConfiguration()
        var root = SettingsTable(layers.members, isSurvey: true)
        try configuration.read(&root, layers, of: features)
        return (root.survey ?? []).map { setting in
            SurveyedSetting(
                keyPath: setting.keyPath, value: setting.value, preset: setting.preset,
                files: layers.files(saying: setting.keyPath))
        }
    }
}
