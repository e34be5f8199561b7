import Groundwork

/// Judges values by the schema that the document publishes: by every keyword that ``Schema`` writes, except for those
/// that only annotate, such as `format`, and `pattern`, which only names of events have.
extension Schema {
    /// Why a value does not fit. It repeats no value, as that may be a secret.
    struct Misfit: Error, Equatable {
        /// The member, such as `members[2]`; empty for the value as a whole.
        let place: String
        let fault: String
    }

    func check(_ value: JSON, at place: String = "") throws(Misfit) { try check(value, by: json, at: place) }

    /// A parameter, as the type that its schema has; the text itself if it is not of that type.
    func value(ofParameter text: String) -> JSON {
        switch json["type"]?.string {
        case "integer": Int64(text).map(JSON.integer) ?? .string(text)
        case "number": Double(text).map(JSON.number) ?? .string(text)
        case "boolean": ["true": true, "false": false][text] ?? .string(text)
        default: .string(text)
        }
    }

    private func check(_ value: JSON, by schema: JSON, at place: String) throws(Misfit) {
        if let name = schema["$ref"]?.string?.split(separator: "/").last {
            return try check(value, by: definitions[String(name)] ?? [:], at: place)
        }
        if let alternatives = schema["anyOf"]?.array { return try check(value, byAnyOf: alternatives, at: place) }
        let types = schema["type"]?.array ?? schema["type"].map { [$0] } ?? []
        guard types.isEmpty || types.contains(where: { value.isOf(type: $0) }) else {
            throw Misfit(
                place: place, fault: "is \(value.kind), not \(types.map(Self.words).joined(separator: " or "))")
        }
        if let choices = schema["enum"]?.array, !choices.contains(value) {
            let names = choices.compactMap(\.string).joined(separator: ", ")
            throw Misfit(place: place, fault: "is not one of \(names)")
        }
        if let range = schema.range("minimum", "maximum"), let number = value.integer, !range.contains(number) {
            throw Misfit(place: place, fault: "is not from \(range.lowerBound) to \(range.upperBound)")
        }
        if let text = value.string {
            try Self.check(
                text.unicodeScalars.count, of: "character", in: schema.range("minLength", "maxLength"), place)
        }
        if let elements = value.array {
            try Self.check(elements.count, of: "element", in: schema.range("minItems", "maxItems"), place)
            for (index, element) in elements.enumerated() {
                try check(element, by: schema["items"] ?? [:], at: "\(place)[\(index)]")
            }
        }
        if let members = value.object { try check(members, by: schema, at: place) }
    }

    private func check(_ members: [String: JSON], by schema: JSON, at place: String) throws(Misfit) {
        let known = schema["properties"]?.object ?? [:]
        let prefix = place.isEmpty ? "" : "\(place)."
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            guard let member = known[name] ?? schema["additionalProperties"] else { continue }
            guard member != false else {
                let list = known.isEmpty ? "no member is allowed" : known.keys.sorted().joined(separator: ", ")
                throw Misfit(
                    place: prefix + DisplayText.clean(name).prefix(64),
                    fault: "is unknown; \(known.isEmpty ? list : "known are \(list)")")
            }
            try check(value, by: member, at: prefix + (known[name] == nil ? "*" : name))
        }
        let required = (schema["required"]?.array ?? []).compactMap(\.string)
        if let name = required.first(where: { members[$0] == nil }) {
            throw Misfit(place: prefix + name, fault: "is missing")
        }
    }

    /// Of several faults, the one inside the value counts: there it was meant to fit.
    private func check(_ value: JSON, byAnyOf alternatives: [JSON], at place: String) throws(Misfit) {
        var misfits: [Misfit] = []
        for alternative in alternatives {
            do throws(Misfit) {
                return try check(value, by: alternative, at: place)
            } catch {
                misfits.append(error)
            }
        }
        if let inside = misfits.first(where: { $0.place != place }) { throw inside }
        throw Misfit(place: place, fault: misfits.map(\.fault).joined(separator: ", and "))
    }

    private static func check(
        _ count: Int, of unit: String, in range: ClosedRange<Int64>?, _ place: String
    ) throws(Misfit) {
        guard let range, !range.contains(Int64(count)) else { return }
        let (limit, word) = count < range.lowerBound ? (range.lowerBound, "least") : (range.upperBound, "most")
        throw Misfit(
            place: place,
            fault: (count == 0 ? "is empty" : "has \(count)")
                + "; it must have at \(word) \(limit) \(unit)\(limit == 1 ? "" : "s")")
    }

    private static func words(_ type: JSON) -> String {
        switch type.string ?? "" {
        case "integer": "a whole number"
        case "null": "null"
        case let name: ("aeiou".contains(name.prefix(1)) ? "an " : "a ") + name
        }
    }
}

extension JSON {
    fileprivate func isOf(type: JSON) -> Bool {
        switch type.string {
        case "string": string != nil
        case "integer": integer != nil
        case "number": number != nil
        case "boolean": bool != nil
        case "array": array != nil
        case "object": object != nil
        default: self == .null
        }
    }

    /// What two keywords of a schema allow; `nil` if it has neither.
    fileprivate func range(_ lower: String, _ upper: String) -> ClosedRange<Int64>? {
        let (least, most) = (self[lower]?.integer, self[upper]?.integer)
        return least == nil && most == nil ? nil : (least ?? .min)...(most ?? .max)
    }
}
