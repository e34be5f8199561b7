import AgentCore
import Glibc
import Groundwork
import Settings

/// The agent's settings, shown and changed for a person; nothing of them is in memory between two calls.
///
/// They are read from the main file and its drop-ins. Changes are written to one drop-in, which is written as a whole.
package struct SettingsFile: Sendable {
    /// Of the main file, which may not exist.
    package let path: String
    /// Of the drop-in with the changes.
    package let changes: String
    /// Whether the main file was named: then it has to exist.
    private let isNamed: Bool
    private let features: [any Feature.Type]

    /// - Parameter path: `nil` is the usual place.
    package init(_ path: String?, of features: [any Feature.Type]) {
        self.features = features
        isNamed = path != nil
        self.path = path ?? AgentConfiguration.defaultPath
        changes = SettingsLayers.dropInDirectory(beside: self.path) + "/50-local.toml"
    }

    // MARK: Reading

    /// Every setting with its value, its default and where it comes from.
    ///
    /// - Throws: ``ConfigurationError``
    package func settings() throws(ConfigurationError) -> [SurveyedSetting] {
        try AgentConfiguration.survey(read(), of: features)
    }

    /// One setting, or a key of a table that may occur several times, whose default is `null`.
    ///
    /// - Throws: ``ConfigurationError``, or ``SettingsEditError/unknown(keyPath:nearest:)``
    package func setting(_ keyPath: String) throws -> SurveyedSetting {
        let layers = try read()
        let settings = try AgentConfiguration.survey(layers, of: features)
        if let setting = settings.first(where: { $0.keyPath == keyPath }) { return setting }
        let place = try SettingsPlace(keyPath, in: settings)
        guard let value = place.value(in: layers) else { throw SettingsEditError.unknown(keyPath, settings) }
        return SurveyedSetting(
            keyPath: keyPath, value: value, preset: .null, files: layers.files(saying: place.description))
    }

    /// Whether there is a main file.
    package var exists: Bool { access(path, F_OK) == 0 }

    private func read() throws(ConfigurationError) -> SettingsLayers { try SettingsLayers.read(isNamed ? path : nil) }

    // MARK: Changing

    /// What ``set(_:to:comparingMachine:)`` did.
    package struct Change: Sendable, Equatable {
        package var former: JSON
        package var value: JSON
        /// Whether the file was written.
        package var isWritten = true
    }

    /// Changes one setting in the drop-in with the changes. That is the former one or the new one at any moment, also
    /// if the power fails, with the mode and the owner that it had, or those of the main file.
    ///
    /// - Parameters:
    ///   - keyPath: such as `broker.port`, `hosts[0].timeout_seconds` or `actions.lamp.retries`.
    ///   - words: the value as a person types it, several for an array; `nil`: the default.
    ///   - comparingMachine: also refuses what this machine lacks, as `latchkey run` would.
    /// - Throws: ``SettingsEditError``, or ``ConfigurationError`` if the files have faults already; nothing is changed
    ///   then.
    package func set(_ keyPath: String, to words: [String]?, comparingMachine: Bool) throws -> Change {
        try change(keyPath, comparingMachine) { edit in
            let place = try SettingsPlace(keyPath, in: edit.settings)
            guard place.key != nil else { throw SettingsEditError.array(keyPath: keyPath) }
            let value = try SettingsWords.value(of: words, at: place, named: keyPath, in: edit.settings, features)
            let written = place.value(in: edit.layers)
            let former = written ?? edit.preset(of: place) ?? .null
            guard value != former || (written == nil && words != nil) else {
                return Change(former: former, value: value, isWritten: false)
            }
            edit.set(place, to: value)
            let after = edit.changed
            if let file = after.files(saying: place.description).last, file != changes,
                place.value(in: after) != value
            {
                throw SettingsEditError.overridden(keyPath: keyPath, by: file, changes: changes)
            }
            return Change(former: former, value: value)
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
        try change(array, comparingMachine) { edit in
            guard let there = edit.settings.first(where: { $0.keyPath == array }) else {
                let keys = edit.settings.map(\.keyPath).filter { $0.hasPrefix("\(array).") }
                throw keys.isEmpty
                    ? SettingsEditError.unknown(array, edit.settings)
                    : SettingsEditError.table(keyPath: array, keys: keys)
            }
            let values = SettingsWords.values(of: members, in: array, readBy: features)
            let table = JSON.object(values.reduce(into: [:]) { $0[$1.key] = $1.value })
            let identity = SettingsLayers.identity(of: table)
            let names = (there.value.array ?? []).map(SettingsLayers.identity)
            if !identity.isEmpty, names.contains(identity) {
                throw SettingsEditError.exists(array: array, name: identity.values.first?.string ?? "")
            }
            edit.add(table, to: array)
            return Change(former: .null, value: table)
        }
    }

    /// Takes a setting out of the drop-in with the changes, or a table out of an array; what the other files say of it
    /// applies then, or its default.
    ///
    /// - Returns: with the value that it has then; `null` for a table.
    /// - Throws: like ``set(_:to:comparingMachine:)``
    package func unset(_ keyPath: String, comparingMachine: Bool) throws -> Change {
        try change(keyPath, comparingMachine) { edit in
            let place = try SettingsPlace(keyPath, in: edit.settings)
            guard place.index != nil || edit.preset(of: place) != nil else {
                throw SettingsEditError.unknown(keyPath, edit.settings)
            }
            let former = place.value(in: edit.layers) ?? .null
            guard edit.remove(place) else {
                let others = edit.layers.files(saying: place.description)
                throw SettingsEditError.notWritten(keyPath: keyPath, path: changes, others: others)
            }
            return Change(former: former, value: edit.value(afterwardsOf: place) ?? edit.preset(of: place) ?? .null)
        }
    }

    private func change(
        _ keyPath: String, _ comparingMachine: Bool, _ body: (inout SettingsEdit) throws -> Change
    ) throws -> Change {
        // A named file that does not exist is refused before a directory is made beside it.
        _ = try read()
        let replacement = try FileReplacement(of: changes)
        let layers = try read()
        var edit = SettingsEdit(of: layers, file: changes, try AgentConfiguration.survey(layers, of: features))
        let change = try body(&edit)
        guard change.isWritten else { return change }
        try check(edit.changed, after: layers, keyPath, comparingMachine)
        // What is too much could not be read again.
        guard edit.text.count <= SettingsDocument.limit, edit.changed.layers.count <= 1 + SettingsLayers.dropInLimit
        else { throw SettingsEditError.unwritable(path: changes, reason: "there are too many settings, or files") }
        try replacement.replace(with: edit.text, like: path)
        return change
    }

    private func check(
        _ layers: SettingsLayers, after before: SettingsLayers, _ keyPath: String, _ comparingMachine: Bool
    ) throws(SettingsEditError) {
        do throws(ConfigurationError) {
            let configuration = try AgentConfiguration(layers, of: features)
            guard comparingMachine else { return }
            let former = MachineComparison(try AgentConfiguration(before, of: features), of: features).faults
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
