import Groundwork
import Settings

/// The tables of the drop-in with the changes, while they are changed.
struct SettingsEdit {
    /// All files as they are.
    let layers: SettingsLayers
    let settings: [SurveyedSetting]
    private let file: String
    private var members: [String: JSON]

    init(of layers: SettingsLayers, file: String, _ settings: [SurveyedSetting]) {
        (self.layers, self.file, self.settings) = (layers, file, settings)
        members = layers.layers.dropFirst().first { $0.path == file }?.members ?? [:]
    }

    /// All files with the changes.
    var changed: SettingsLayers { layers.replacing(file, with: members) }

    /// What the file is to hold.
    var text: [UInt8] {
        let heading = """
            # Written by: latchkey config set, add and unset, which write the whole file anew.
            # Values may be edited here too; comments are lost at the next change.


            """
        return Array((heading + SettingsDocument.text(of: members)).utf8)
    }

    /// The default of a setting in a single table; `nil` if there is no such setting.
    func preset(of place: SettingsPlace) -> JSON? {
        place.index == nil ? settings.first { $0.keyPath == place.description }?.preset : nil
    }

    /// What all files say then of a place of now.
    func value(afterwardsOf place: SettingsPlace) -> JSON? {
        place.identity(in: changed) == place.identity(in: layers) ? place.value(in: changed) : nil
    }

    mutating func set(_ place: SettingsPlace, to value: JSON) {
        _ = change(place) { $0.updateValue(value, forKey: place.key ?? "") }
    }

    mutating func add(_ table: JSON, to array: String) {
        members[array] = .array((members[array]?.array ?? []) + [table])
    }

    /// - Returns: `false` if the file does not say it.
    mutating func remove(_ place: SettingsPlace) -> Bool {
        let identity = place.identity(in: layers)
        return change(place) { table in
            if let key = place.key { return table.removeValue(forKey: key) != nil }
            defer { table = identity }
            return table != identity
        }
    }

    /// Changes a table of the file. One that says nothing, or only which one of an array it is, is left out.
    private mutating func change<Result>(_ place: SettingsPlace, _ body: (inout [String: JSON]) -> Result) -> Result {
        let identity = place.identity(in: layers)
        var tables = members[place.table].map { place.index == nil ? [$0] : $0.array ?? [] } ?? []
        let index = tables.firstIndex { place.index == nil || SettingsLayers.identity(of: $0) == identity }
        var table = index.flatMap { tables.remove(at: $0).object } ?? identity
        let result = body(&table)
        if table != identity { tables.insert(.object(table), at: index ?? tables.count) }
        // Not `nil`, which is the JSON null here.
        members.removeValue(forKey: place.table)
        if let first = tables.first { members[place.table] = place.index == nil ? first : .array(tables) }
        return result
    }
}
