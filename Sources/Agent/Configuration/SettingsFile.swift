import Glibc
public import Groundwork
public import Settings

/// The agent's settings file, shown and changed for a person; nothing of it is in memory between two calls.
public struct SettingsFile: Sendable {
    /// Without links; the file may not exist yet.
    public let path: String
    /// Whether somebody named it: then it has to exist, unless it is changed.
    private let isNamed: Bool

    /// - Parameter path: `nil` is the usual place.
    public init(_ path: String?) {
        isNamed = path != nil
        let named = path ?? AgentConfiguration.defaultPath
        let resolved = realpath(named, nil)
        defer { free(resolved) }
        self.path = resolved.map { String(cString: $0) } ?? named
    }

    // MARK: Reading

    /// Every setting with its value and its default.
    ///
    /// - Throws: ``ConfigurationError``
    public func settings() throws(ConfigurationError) -> [SurveyedSetting] {
        let content = try content()
        guard content != nil || !isNamed else {
            throw .unreadable(path: path, reason: Errno(ENOENT).description)
        }
        return try AgentConfiguration.survey(toml: try text(of: content), path: path)
    }

    /// One setting, or a key of a table that may occur several times, whose default is `null`.
    ///
    /// - Throws: ``ConfigurationError``, or ``SettingsEditError/unknown(keyPath:nearest:)``
    public func setting(_ keyPath: String) throws -> SurveyedSetting {
        let settings = try settings()
        if let setting = settings.first(where: { $0.keyPath == keyPath }) { return setting }
        guard let path = SettingsPath(keyPath), let index = path.index,
            let value = settings.first(where: { $0.keyPath == path.table })?.value[index]?[path.key]
        else { throw SettingsEdit.unknown(keyPath, settings) }
        return SurveyedSetting(keyPath: keyPath, value: value, preset: .null, isWritten: true)
    }

    /// Whether there is a file.
    public var exists: Bool { access(path, F_OK) == 0 }

    /// - Returns: `nil` if there is no file.
    private func content() throws(ConfigurationError) -> [UInt8]? {
        do {
            return try BoundedFile.read(path, limit: SettingsDocument.limit)
        } catch .system(Errno(ENOENT)) {
            return nil
        } catch {
            throw .unreadable(path: path, reason: error.description)
        }
    }

    private func text(of content: [UInt8]?) throws(ConfigurationError) -> String {
        guard let text = String(validating: content ?? [], as: UTF8.self) else {
            throw .unreadable(path: path, reason: "it is not UTF-8")
        }
        return text
    }

    // MARK: Changing

    /// What ``set(_:to:comparingMachine:)`` did.
    public struct Change: Sendable, Equatable {
        public var former: JSON
        public var value: JSON
        /// Whether the file was written.
        public var isWritten: Bool
    }

    /// Changes one setting in the file, and nothing else in it. The file is the former one or the new one at any
    /// moment, also if the power fails, with the mode and the owner that it had.
    ///
    /// - Parameters:
    ///   - keyPath: such as `broker.port`, or `hosts[0].timeout_seconds`.
    ///   - words: the value as a person types it, several for an array; `nil`: the default.
    ///   - comparingMachine: also refuses what this machine lacks, as `latchkey run` would.
    /// - Throws: ``SettingsEditError``, or ``ConfigurationError`` if the file has faults already; nothing is changed
    ///   then.
    public func set(_ keyPath: String, to words: [String]?, comparingMachine: Bool) throws -> Change {
        // Whoever changes the file without a lock, as editors do, is found by a comparison; then it is read again.
        for _ in 0..<5 {
            if let change = try attempt(keyPath, words, comparingMachine) { return change }
        }
        throw SettingsEditError.changedMeanwhile(path: path)
    }

    /// - Returns: `nil` if somebody else has changed the file.
    private func attempt(_ keyPath: String, _ words: [String]?, _ comparingMachine: Bool) throws -> Change? {
        let replacement = try FileReplacement(of: path)
        let before = try text(of: content())
        let settings = try AgentConfiguration.survey(toml: before, path: path)
        let edit = try SettingsEdit(keyPath, words, in: settings)
        guard edit.value != edit.former || edit.isNew else {
            return Change(former: edit.former, value: edit.value, isWritten: false)
        }
        var document = SettingsText(before)
        do {
            try document.set(edit.path, to: edit.value)
        } catch {
            throw SettingsEditError.notPlaced(keyPath: keyPath, path: path)
        }
        try check(document.text, after: before, keyPath, comparingMachine)
        guard try replacement.replace(Array(before.utf8), with: Array(document.text.utf8)) else { return nil }
        return Change(former: edit.former, value: edit.value, isWritten: true)
    }

    private func check(_ text: String, after before: String, _ keyPath: String, _ comparingMachine: Bool)
        throws(SettingsEditError)
    {
        do throws(ConfigurationError) {
            let configuration = try AgentConfiguration(toml: text, path: path)
            guard comparingMachine else { return }
            let former = MachineComparison(try AgentConfiguration(toml: before, path: path)).faults
            let faults = MachineComparison(configuration).faults.filter { !former.contains($0) }
            guard faults.isEmpty else { throw ConfigurationError.faults(path: path, faults) }
        } catch .faults(_, let faults) {
            throw .refused(keyPath: keyPath, faults)
        } catch {
            throw .refused(
                keyPath: keyPath, [SettingsFault(keyPath: "", fault: error.message, fix: error.remedy ?? "")])
        }
    }
}
