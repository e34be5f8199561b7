/// Finds names that were likely meant by one that does not exist.
public enum NearNames {
    /// The edits (a character inserted, removed or replaced) up to which a word counts as mistyped.
    private static let farthest = 2
    /// The most names that are offered.
    private static let limit = 3

    /// The nearest of the names, if one is near.
    public static func suggestion(for typed: String, among names: [String]) -> String? {
        if typed.count > 1, let whole = names.first(where: { $0.hasPrefix(typed) }) { return whole }
        let near = names.map { (name: $0, edits: edits(from: typed, to: $0)) }.min { $0.edits < $1.edits }
        guard let near, near.edits <= min(farthest, typed.count / 2) else { return nil }
        return near.name
    }

    /// The near ones among many long names, the nearest first: the typed name is misspelled, or only a part.
    public static func nearest(to typed: String, among names: [String]) -> [String] {
        let typed = String(typed.lowercased().prefix(100))
        guard typed.count > 2 else { return [] }
        let near = Set(names).map { name -> (name: String, distance: Int) in
            (name, name.contains(typed) ? 0 : edits(from: typed, to: name))
        }.filter { $0.distance <= max(farthest, typed.count / 3) }
        return near.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(limit).map(\.name)
    }

    /// The least number of characters to insert, remove or replace (Levenshtein distance).
    private static func edits(from: String, to: String) -> Int {
        let target = Array(to)
        var row = Array(0...target.count)
        for (line, character) in from.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in target.indices {
                let replaced = diagonal + (character == target[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, row[column] + 1, diagonal + 1)
            }
        }
        return row[target.count]
    }
}
