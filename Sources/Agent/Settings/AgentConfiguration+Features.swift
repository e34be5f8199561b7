import AgentCore

extension AgentConfiguration {
    /// Reads the file at `path`, or at ``defaultPath`` if that exists, else uses the defaults.
    ///
    /// - Throws: ``ConfigurationError`` that names every fault of the file.
    package static func load(path: String?) throws(ConfigurationError) -> AgentConfiguration {
        try load(path: path, of: Features.all)
    }

    /// - Throws: ``ConfigurationError/faults(path:_:)`` with every fault.
    package init(toml: String, path: String) throws(ConfigurationError) {
        try self.init(toml: toml, path: path, of: Features.all)
    }
}
