import AgentCore

/// Writes figures as text for scrapers: OpenMetrics 1.0, or the format of Prometheus before it.
struct MetricsText {
    let isOpenMetrics: Bool

    func write(_ page: MetricsPage) -> String {
        var text = ""
        for family in page.families { write(family, to: &text) }
        if isOpenMetrics { text += "# EOF\n" }
        return text
    }

    private func write(_ family: MetricFamily, to text: inout String) {
        let sampleName = family.name + suffix(family.kind)
        // The older format knows no name but that of the samples, and fewer types.
        let name = isOpenMetrics ? family.name : sampleName
        let type =
            switch family.kind {
            case .gauge, .counter: family.kind.rawValue
            case .info, .stateSet: isOpenMetrics ? family.kind.rawValue : "gauge"
            }
        if !isOpenMetrics { text += "# HELP \(name) \(escaped(family.help))\n" }
        text += "# TYPE \(name) \(type)\n"
        if isOpenMetrics {
            if let unit = family.unit { text += "# UNIT \(name) \(unit)\n" }
            text += "# HELP \(name) \(escaped(family.help))\n"
        }
        for sample in family.samples {
            text += sampleName
            if !sample.labels.isEmpty {
                text += "{"
                for (index, label) in sample.labels.enumerated() {
                    text += "\(index == 0 ? "" : ",")\(label.name)=\"\(escaped(label.value))\""
                }
                text += "}"
            }
            text += " \(Self.number(sample.value))\n"
        }
    }

    private func suffix(_ kind: MetricFamily.Kind) -> String {
        switch kind {
        case .counter: "_total"
        case .info: "_info"
        case .gauge, .stateSet: ""
        }
    }

    private func escaped(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x5C || $0 == 0x0A || $0 == 0x22 }) else { return text }
        // By scalars: a mark that joins a quotation mark would hide it in a character of both.
        return text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }

    private static func number(_ value: Double) -> String {
        if let whole = Int64(exactly: value) { return "\(whole)" }
        if value.isNaN { return "NaN" }
        return value.isFinite ? "\(value)" : value > 0 ? "+Inf" : "-Inf"
    }
}
