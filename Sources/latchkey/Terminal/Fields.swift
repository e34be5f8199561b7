/// Lines of `label   value`, the values in one column.
struct Fields {
    private var rows: [(label: String, value: String)] = []

    mutating func add(_ label: String, _ value: String?) {
        if let value, !value.isEmpty { rows.append((label, value)) }
    }

    var text: String {
        let width = rows.map(\.label.count).max() ?? 0
        return rows.map { row in
            Terminal.standardOutput.dim(row.label) + String(repeating: " ", count: width - row.label.count + 2)
                + row.value
        }.joined(separator: "\n")
    }
}
