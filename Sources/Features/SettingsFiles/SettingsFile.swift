import AgentCore
import Glibc
import Groundwork
import Settings

/// The agent's settings file, shown and changed for a person; nothing of it is in memory between two calls.
package struct SettingsFile: Sendable {
    /// Without links; the file may not exist yet.
    package let path: String
    /// Whether somebody named it: then it has to exist, unless it is changed.
    private let isNamed: Bool
    private let features: [any Feature.Type]

    /// - Parameter path: `nil` is the usual place.
    package init(_ path: String?, of features: [any Feature.Type]) {
        self.features = features
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
    package func settings() throws(ConfigurationError) -> [SurveyedSetting] {
        let content = try content()
        guard content != nil || !isNamed else {
            throw .unreadable(path: path, reason: Errno(ENOENT).description)
        }
        return try AgentConfiguration.survey(toml: try text(of: content), path: path, of: features)
    }

    /// One setting, or a key of a table that may occur several times, whose default is `null`.
    ///
    /// - Throws: ``ConfigurationError``, or ``SettingsEditError/unknown(keyPath:nearest:)``
    package func setting(_ keyPath: String) throws -> SurveyedSetting {
        let settings = try settings()
        if let setting = settings.first(where: { $0.keyPath == keyPath }) { return setting }
        let place = try SettingsPlace(keyPath, in: settings)
        guard let index = place.index,
            let table = settings.first(where: { $0.keyPath == place.table })?.value[index],
            let value = place.key.map({ table[$0] }) ?? table
        else { throw SettingsEdit.unknown(keyPath, settings) }
        return SurveyedSetting(keyPath: keyPath, value: value, preset: .null, isWritten: true)
    }

    /// Whether there is a file.
    package var exists: Bool { access(path, F_OK) == 0 }

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
        try AgentConfiguration.text(of: content ?? [], at: path)
    }

    // MARK: Changing

    /// What ``set(_:to:comparingMachine:)`` did.
    package struct Change: Sendable, Equatable {
        package var former: JSON
        package var value: JSON
        /// Whether the file was written.
        package var isWritten: Bool
    }

    /// Changes one setting in the file, and nothing else in it. The file is the former one or the new one at any
    /// moment, also if the power fails, with the mode and the owner that it had.
    ///
    /// - Parameters:
    ///   - keyPath: such as `broker.port`, `hosts[0].timeout_seconds` or `actions.lamp.retries`.
    ///   - words: the value as a person types it, several for an array; `nil`: the default.
    ///   - comparingMachine: also refuses what this machine lacks, as `latchkey run` would.
    /// - Throws: ``SettingsEditError``, or ``ConfigurationError`` if the file has faults already; nothing is changed
    ///   then.
    package func set(_ keyPath: String, to words: [String]?, comparingMachine: Bool) throws -> Change {
        try change(keyPath, comparingMachine) { text, settings in
            let edit = try SettingsEdit(keyPath, words, in: settings, readBy: features)
            let isWritten = edit.value != edit.former || edit.isNew
            if isWritten { try text.set(edit.path, to: edit.value) }
            return Change(former: edit.former, value: edit.value, isWritten: isWritten)
        }
    }

    /// Adds a table to an array of tables, such as `[[hosts]]`, as ``set(_:to:comparingMachine:)`` changes one.
    ///
    /// - Parameters:
    ///   - array: such as `hosts`.
    ///   - members: its keys with their values as a person types them.
    /// - Throws: like ``set(_:to:comparingMachine:)``
    package func add(to array: String, _ members: [(key: String, words: [String])], comparingMachine: Bool) throws
        -> Change
    {
        try change(array, comparingMachine) { text, settings in
            guard settings.contains(where: { $0.keyPath == array }) else {
                let keys = settings.map(\.keyPath).filter { $0.hasPrefix("\(array).") }
                throw keys.isEmpty
                    ? SettingsEdit.unknown(array, settings) : SettingsEditError.table(keyPath: array, keys: keys)
            }
            let values = SettingsWords.values(of: members, in: array, readBy: features)
            try text.add(to: array, values)
            let table: [String: JSON] = values.reduce(into: [:]) { $0[$1.key] = $1.value }
            return Change(former: .null, value: .object(table), isWritten: true)
        }
    }

    /// Takes a setting out of the file, which has its default then, or a table out of an array.
    ///
    /// - Returns: with the default as value; `null` for a table.
    /// - Throws: like ``set(_:to:comparingMachine:)``
    package func unset(_ keyPath: String, comparingMachine: Bool) throws -> Change {
        try change(keyPath, comparingMachine) { text, settings in
            let place = try SettingsPlace(keyPath, in: settings)
            let written = settings.first { $0.keyPath == (place.index == nil ? keyPath : place.table) }
            guard let written else { throw SettingsEdit.unknown(keyPath, settings) }
            var (former, value) = (written.value, written.preset)
            if let index = place.index {
                let table = written.value[index] ?? .null
                (former, value) = (place.key.map { table[$0] ?? .null } ?? table, .null)
            }
            guard place.index == nil ? written.isWritten : former != .null else {
                throw SettingsEditError.notWritten(keyPath: keyPath, path: path)
            }
            try text.remove(place.table, place.index, place.key)
            return Change(former: former, value: value, isWritten: true)
        }
    }

    private typealias Edit = (inout SettingsText, [SurveyedSetting]) throws -> Change

    private func change(_ keyPath: String, _ comparingMachine: Bool, _ edit: Edit) throws -> Change {
        // Whoever changes the file without a lock, as editors do, is found by a comparison; then it is read again.
        for _ in 0..<5 {
            if let change = try attempt(keyPath, comparingMachine, edit) { return change }
        }
        throw SettingsEditError.changedMeanwhile(path: path)
    }

    /// - Returns: `nil` if somebody else has changed the file.
    private func attempt(_ keyPath: String, _ comparingMachine: Bool, _ edit: Edit) throws -> Change? {
        let replacement = try FileReplacement(of: path)
        let content = try content()
        let before = try text(of: content)
        var document = SettingsText(before)
        let change: Change
        do {
            change = try edit(&document, AgentConfiguration.survey(toml: before, path: path, of: features))
        } catch is SettingsText.Fault {
            throw SettingsEditError.notPlaced(keyPath: keyPath, path: path)
        }
        guard change.isWritten else { return change }
        try check(document.text, after: before, keyPath, comparingMachine)
        // A mark is kept; what was UTF-16 is UTF-8 from now on.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let kept = content?.starts(with: mark) == true ? mark : []
        guard try replacement.replace(content ?? [], with: kept + document.text.utf8) else { return nil }
        return change
    }

    private func check(_ text: String, after before: String, _ keyPath: String, _ comparingMachine: Bool)
        throws(SettingsEditError)
    {
        do throws(ConfigurationError) {
            let configuration = try AgentConfiguration(toml: text, path: path, of: features)
            guard comparingMachine else { return }
            let former = MachineComparison(
                try AgentConfiguration(toml: before, path: path, of: features), of: features
            ).faults
            let faults = MachineComparison(configuration, of: features).faults.filter { !former.contains($0) }
            guard faults.isEmpty else { throw ConfigurationError.faults(path: path, faults) }
        } catch .faults(_, let faults) {
            throw .refused(keyPath: keyPath, faults)
        } catch {
            throw .refused(
                keyPath: keyPath, [SettingsFault(keyPath: "", fault: error.message, fix: error.remedy ?? "")])
        }
    }
}
