import Groundwork

/// Rows for a person in columns under a heading; without it and with tabs between in a pipe.
struct Table {
    private let heads: [String]
    private var rows: [[String]] = []

    init(_ heads: String...) { self.heads = heads }

    /// A table with a row for each element of a list.
    ///
    /// - Parameter cells: one for each column.
    static func text(of list: JSON?, _ heads: [String], row cells: (JSON) -> [String]) -> String {
        var table = Table(heads: heads)
        for element in list?.array ?? [] { table.add(cells(element)) }
        return table.text
    }

    private init(heads: [String]) { self.heads = heads }

    /// - Parameter cells: one for each column.
    mutating func add(_ cells: String...) { add(cells) }

    private mutating func add(_ cells: [String]) { rows.append(cells.map(Terminal.standardOutput.shown)) }

    var text: String { text(onTerminal: Terminal.standardOutput.isTerminal) }

    func text(onTerminal isTerminal: Bool) -> String {
        guard isTerminal else { return rows.map { $0.joined(separator: "\t") }.joined(separator: "\n") }
        let all = [heads] + rows
        let widths = heads.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.enumerated().map { index, row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: max(0, $1 - $0.count)) }
            let line = cells.joined(separator: "  ").trimmingEnd()
            return index == 0 ? Terminal.standardOutput.dim(line) : line
        }.joined(separator: "\n")
    }
}

extension String {
    fileprivate func trimmingEnd() -> String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
