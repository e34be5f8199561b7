import Groundwork

/// Reads values of a configuration document by their paths, and records every fault and every requested path.
///
/// A blank string and `null` count as absent (MAG 1.1 note a); a value of the wrong type is a fault.
struct DocumentReader {
    private let document: JSON
    private(set) var faults: [ConfigurationFault] = []
    private(set) var warnings: [ConfigurationFault] = []
    private var known: Set<String> = []

    init(_ document: JSON) { self.document = document }

    mutating func fail(_ path: String, _ fault: String, fix: String) {
        faults.append(ConfigurationFault(path: path, fault: fault, fix: fix))
    }

    mutating func warn(_ path: String, _ fault: String, fix: String) {
        warnings.append(ConfigurationFault(path: path, fault: fault, fix: fix))
    }

    /// The value at a path such as `oauth.client.client_ids[0].client_id`.
    mutating func value(_ path: String) -> JSON? {
        known.insert(path)
        var value: JSON? = document
        for step in path.split(separator: ".") {
            let parts = step.split(separator: "[")
            value = value?[String(parts[0])]
            for index in parts.dropFirst() {
                value = Int(index.dropLast()).flatMap { value?[$0] }
            }
        }
        return value == .null ? nil : value
    }

    mutating func text(_ path: String, expecting: String = "a string in quotes") -> String? {
        guard let value = value(path) else { return nil }
        guard let text = value.string else {
            fail(path, "is \(value.kind), not a string", fix: "write \(expecting)")
            return nil
        }
        let trimmed = text.trimmed
        return trimmed.isEmpty ? nil : trimmed
    }

    mutating func requiredText(_ path: String, fix: String) -> String? {
        let before = faults.count
        if let text = text(path, expecting: fix) { return text }
        guard faults.count == before else { return nil }
        fail(path, value(path) == nil ? "is missing" : "is blank", fix: "write " + fix)
        return nil
    }

    mutating func flag(_ path: String, default standard: Bool) -> Bool {
        guard let value = value(path) else { return standard }
        if let flag = value.bool { return flag }
        fail(path, "is \(value.kind), not a boolean", fix: "write true or false, without quotes")
        return standard
    }

    mutating func wholeNumber(_ path: String, in range: ClosedRange<Int>, default standard: Int) -> Int {
        guard let value = value(path) else { return standard }
        guard let number = value.number else {
            fail(path, "is \(value.kind), not a number", fix: "write a whole number, without quotes")
            return standard
        }
        guard let whole = value.integer.flatMap({ Int(exactly: $0) }), range.contains(whole) else {
            fail(
                path, "is \(JSON.number(number).text)",
                fix: "write a whole number from \(range.lowerBound) to \(range.upperBound)")
            return standard
        }
        return whole
    }

    mutating func list(_ path: String, limit: Int) -> [JSON] {
        guard let value = value(path) else { return [] }
        guard let elements = value.array else {
            fail(path, "is \(value.kind), not an array", fix: "write a list in brackets")
            return []
        }
        guard elements.count <= limit else {
            fail(path, "has \(elements.count) elements", fix: "leave at most \(limit)")
            return []
        }
        return elements
    }

    /// Paths that only people or other clients use; any value is accepted.
    mutating func accept(_ paths: [String]) { known.formUnion(paths) }

    /// The paths that were not requested, at most `limit`; for an unknown object only its own path.
    func unknownPaths(limit: Int) -> [String] {
        var found: [String] = []
        collectUnknown(document, at: "", into: &found)
        return Array(found.sorted().prefix(limit))
    }

    private func collectUnknown(_ value: JSON, at path: String, into found: inout [String]) {
        guard !known.contains(path) else { return }
        let isWayToKnown = path.isEmpty || known.contains { $0.hasPrefix(path + ".") || $0.hasPrefix(path + "[") }
        switch value {
        case .object(let members) where isWayToKnown:
            for (key, member) in members {
                collectUnknown(member, at: path.isEmpty ? key : path + "." + key, into: &found)
            }
        case .array(let elements) where isWayToKnown:
            // Only the first client id is used (MAG 1.1); the others are for other clients, not unknown keys.
            if let first = elements.first { collectUnknown(first, at: path + "[0]", into: &found) }
        default: found.append(path)
        }
    }
}
