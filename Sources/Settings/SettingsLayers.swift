public import Groundwork

/// Settings files that are read one after the other, as one document.
///
/// A later file replaces single keys of a table. In an array of tables, such as `[[hosts]]`, one with the `name` of one
/// in an earlier file (else the `host`) replaces single keys of that; all others are added at the end. Arrays of values
/// are values, and are replaced.
public struct SettingsLayers: Sendable {
    /// A file and what it says.
    public struct Layer: Sendable {
        public let path: String
        public let members: [String: JSON]

        public init(path: String, members: [String: JSON]) { (self.path, self.members) = (path, members) }
    }

    /// A table of an array in one of the files, by its number there.
    private struct Place {
        let layer: Int
        let index: Int
    }

    /// The main file first, which says nothing if it does not exist.
    public let layers: [Layer]
    /// What all of them say together.
    public private(set) var members: [String: JSON] = [:]
    /// Of each table in each array of ``members``, all that say something of it.
    private var places: [String: [[Place]]] = [:]

    /// - Parameters:
    ///   - main: the file that is read first.
    ///   - dropIns: those after it, in any order; they are read in the byte order of their paths.
    public init(main: Layer, dropIns: [Layer] = []) {
        layers = [main] + dropIns.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        for (number, layer) in layers.enumerated() { merge(layer.members, number) }
    }

    /// The same files, with one that is changed or new.
    public func replacing(_ path: String, with members: [String: JSON]) -> SettingsLayers {
        let others = layers.dropFirst().filter { $0.path != path }
        return SettingsLayers(main: layers[0], dropIns: others + [Layer(path: path, members: members)])
    }

    /// The member that tables of an array are told apart by; empty for one without.
    public static func identity(of table: JSON) -> [String: JSON] {
        for key in ["name", "host"] { if let value = table[key], value.string != nil { return [key: value] } }
        return [:]
    }

    private mutating func merge(_ changes: [String: JSON], _ layer: Int) {
        for (key, value) in changes {
            if let table = value.object {
                (members[key], places[key]) = (.object((members[key]?.object ?? [:]).merging(table) { $1 }), nil)
            } else if let elements = value.array, elements.isEmpty || elements.contains(where: { $0.object != nil }) {
                merge(elements, in: key, layer)
            } else {
                (members[key], places[key]) = (value, nil)
            }
        }
    }

    private mutating func merge(_ elements: [JSON], in array: String, _ layer: Int) {
        var places = self.places[array] ?? []
        var merged = places.isEmpty ? [] : members[array]?.array ?? []
        for (index, element) in elements.enumerated() {
            let identity = Self.identity(of: element)
            // Two of one file are not merged: the second is a fault.
            let same = merged.indices.first { number in
                !identity.isEmpty && Self.identity(of: merged[number]) == identity
                    && places[number].last?.layer != layer
            }
            if let same, let table = element.object {
                merged[same] = .object((merged[same].object ?? [:]).merging(table) { $1 })
                places[same].append(Place(layer: layer, index: index))
            } else {
                merged.append(element)
                places.append([Place(layer: layer, index: index)])
            }
        }
        (members[array], self.places[array]) = (.array(merged), places)
    }

    // MARK: Where something is said

    /// The files that say a setting, as they are read: of a single value the last one decides.
    ///
    /// - Parameter keyPath: such as `broker.port`, `hosts[1].public` in ``members``, or `hosts` alone.
    public func files(saying keyPath: String) -> [String] { sources(of: keyPath).map(\.file) }

    /// A fault of ``members`` with the file that it is in, unless that is the main one, and its place there.
    public func placed(_ fault: SettingsFault) -> SettingsFault {
        // What is missing belongs to the file that has begun the table.
        let source = sources(of: fault.keyPath).last ?? sources(of: fault.keyPath, ofTable: true).first
        guard let source, source.file != layers[0].path else { return fault }
        return SettingsFault(file: source.file, keyPath: source.keyPath, fault: fault.fault, fix: fault.fix)
    }

    /// - Parameter ofTable: of the table that a key is in.
    private func sources(of keyPath: String, ofTable: Bool = false) -> [(file: String, keyPath: String)] {
        let table = String(keyPath.prefix { $0 != "." && $0 != "[" })
        var rest = keyPath.dropFirst(table.count)
        var places: [Place]?
        if let found = self.places[table], let end = rest.firstIndex(of: "]"), let index = Int(rest[..<end].dropFirst())
        {
            places = found.indices.contains(index) ? found[index] : []
            rest = rest[rest.index(after: end)...]
        }
        let key = ofTable ? "" : String(rest.dropFirst().prefix { $0 != "[" && $0 != "." })
        func says(_ table: JSON?) -> Bool { key.isEmpty ? table != nil : table?[key] != nil }
        return places?.filter { says(layers[$0.layer].members[table]?[$0.index]) }
            .map { (layers[$0.layer].path, "\(table)[\($0.index)]\(rest)") }
            ?? layers.filter { says($0.members[table]) }.map { ($0.path, keyPath) }
    }
}
