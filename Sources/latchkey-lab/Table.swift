/// A list for people, in aligned columns with a heading each.
struct Table {
    private let heads: [String]
    private var rows: [[String]] = []

    init(_ heads: String...) { self.heads = heads }

    mutating func add(_ cells: String...) { rows.append(cells.map(Self.plain)) }

    var text: String {
        let lines = [heads] + rows
        let widths = heads.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { line in
            let padded = line.enumerated().map { column, cell in
                column == heads.count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }
            return padded.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// Boards choose their names; a terminal would interpret control characters in them. An empty cell shows a dash.
    private static func plain(_ text: String) -> String {
        guard !text.isEmpty else { return "-" }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map {
                    $0.properties.generalCategory == .control ? "\u{FFFD}" : $0
                }))
    }
}
