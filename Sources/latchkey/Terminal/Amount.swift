/// Numbers formatted for people; JSON has them unformatted.
enum Amount {
    /// `1 message`, `2 messages`.
    static func of(_ count: Int64, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// Bytes in the largest binary unit that is not larger than the count: `512 B`, `9.7 MiB`.
    static func bytes(_ count: Double) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
        var (value, unit) = (count, 0)
        while value.magnitude >= 1024, unit < units.count - 1 { (value, unit) = (value / 1024, unit + 1) }
        return "\(unit == 0 ? decimal(value, digits: 0) : decimal(value, digits: 1)) \(units[unit])"
    }

    /// A reading with the usual sign of its unit (SenML has other names, RFC 8428 section 12.1).
    static func reading(_ value: Double, unit: String) -> (value: String, unit: String) {
        switch unit {
        case "B":
            let parts = bytes(value).split(separator: " ").map(String.init)
            return (parts[0], parts[1])
        case "Cel": return (decimal(value, digits: 3), "°C")
        case "%RH": return (decimal(value, digits: 3), "%")
        case "count": return (decimal(value, digits: 3), "")
        // Two units of it, as of ages.
        case "s" where (120..<1e12).contains(value): return ("\(Age(seconds: Int64(value)))", "")
        // Of teslas and farads little would be left.
        default: return (decimal(value, digits: value.magnitude < 0.1 ? 9 : 3), unit)
        }
    }

    /// At most `digits` digits after the point, and no zeros at the end.
    private static func decimal(_ value: Double, digits: Int) -> String {
        guard value.isFinite, value.magnitude < 1e15 else { return "\(value)" }
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let rounded = (value * scale).rounded() / scale
        let text = "\(rounded)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

/// Identifiers of devices and users for people.
enum Identifier {
    /// The beginning of a long identifier, such as the 64 hexadecimal digits of a device.
    static func short(_ text: String) -> String { text.count > 16 ? "\(text.prefix(8))…" : text }
}
