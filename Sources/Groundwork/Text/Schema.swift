/// The form and meaning of a JSON value: a JSON Schema (2020-12), which OpenAPI 3.1 uses for bodies and parameters.
public struct Schema: Sendable, Equatable {
    /// The schema itself; it may refer to ``definitions``.
    public let json: JSON
    /// The named schemas, which the document lists once.
    public let definitions: [String: JSON]

    /// The keyword of a value that contains a secret or personal information.
    package static let sensitive = "x-sensitive"

    private init(_ json: JSON, _ definitions: [String: JSON] = [:]) {
        self.json = json
        self.definitions = definitions
    }

    /// - Parameter choices: the only values allowed; empty allows any text.
    public static func string(_ meaning: String, choices: [String] = []) -> Schema {
        typed("string", meaning, choices.isEmpty ? [:] : ["enum": .array(choices.map(JSON.string))])
    }

    /// Text with the values of an enumeration.
    public static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ meaning: String, of type: Choice.Type
    ) -> Schema {
        .string(meaning, choices: Choice.allCases.map(\.rawValue))
    }

    /// A time in ISO 8601 with its zone, as in RFC 3339.
    public static func time(_ meaning: String) -> Schema { typed("string", meaning, ["format": "date-time"]) }

    /// Bytes in base64 (RFC 4648 section 4).
    public static func base64(_ meaning: String) -> Schema { typed("string", meaning, ["contentEncoding": "base64"]) }

    public static func integer(_ meaning: String, in range: ClosedRange<Int64>? = nil) -> Schema {
        typed(
            "integer", meaning,
            range.map { ["minimum": .integer($0.lowerBound), "maximum": .integer($0.upperBound)] } ?? [:])
    }

    public static func number(_ meaning: String) -> Schema { typed("number", meaning) }

    public static func boolean(_ meaning: String) -> Schema { typed("boolean", meaning) }

    public static func array(of element: Schema, _ meaning: String) -> Schema {
        typed("array", meaning, ["items": element.json], element.definitions)
    }

    /// An object that has these members and no others.
    ///
    /// - Parameter required: the required members.
    public static func object(
        _ members: [String: Schema], required: Set<String> = [], _ meaning: String = ""
    ) -> Schema {
        var more: [String: JSON] = ["properties": .object(members.mapValues(\.json)), "additionalProperties": false]
        if !required.isEmpty { more["required"] = .array(required.sorted().map(JSON.string)) }
        return typed("object", meaning, more, union(members.values))
    }

    /// An object that has all of these members and no others.
    public static func object(all members: [String: Schema], _ meaning: String = "") -> Schema {
        object(members, required: Set(members.keys), meaning)
    }

    /// An object that maps names to values of one schema.
    public static func map(of element: Schema, _ meaning: String) -> Schema {
        typed("object", meaning, ["additionalProperties": element.json], element.definitions)
    }

    /// An object whose members are defined elsewhere, such as by the gateway.
    public static func openObject(_ meaning: String) -> Schema { typed("object", meaning) }

    /// Any JSON value.
    public static func anything(_ meaning: String) -> Schema { Schema(["description": .string(meaning)]) }

    /// One of several.
    public static func any(of schemas: [Schema], _ meaning: String = "") -> Schema {
        var members: [String: JSON] = ["anyOf": .array(schemas.map(\.json))]
        if !meaning.isEmpty { members["description"] = .string(meaning) }
        return Schema(.object(members), union(schemas))
    }

    /// A schema that the document lists under its own name.
    public static func named(_ name: String, _ schema: Schema) -> Schema {
        Schema(
            ["$ref": .string("#/components/schemas/\(name)")],
            schema.definitions.merging([name: schema.json], uniquingKeysWith: { _, new in new }))
    }

    /// A reference to a schema that the document lists.
    package static func reference(to name: String) -> Schema {
        Schema(["$ref": .string("#/components/schemas/\(name)")])
    }

    /// The same, in a document that lists the named schemas of another one too.
    package func defining(_ other: Schema) -> Schema { Schema(json, Self.union([self, other])) }

    /// The name of an event, or of any of a family: `broker.*`.
    package static func eventName(_ name: String) -> Schema {
        guard name.hasSuffix(".*") else { return string("", choices: [name]) }
        return typed("string", "", ["pattern": .string("^\(name.dropLast(2))\\.[a-z-]+$")])
    }

    /// The same, or `null`.
    public var orNull: Schema {
        guard var members = json.object, let type = members["type"]?.string else {
            return Schema(["anyOf": [json, ["type": "null"]]], definitions)
        }
        members["type"] = [.string(type), "null"]
        if let choices = members["enum"]?.array { members["enum"] = .array(choices + [.null]) }
        return Schema(.object(members), definitions)
    }

    /// The same, of text or an array that has at least one character or element, and at most so many.
    public func notEmpty(atMost limit: Int? = nil) -> Schema {
        var members = json.object ?? [:]
        let unit = members["type"] == "array" ? "Items" : "Length"
        members["min\(unit)"] = 1
        members["max\(unit)"] = limit.map { .integer(Int64($0)) }
        return Schema(.object(members), definitions)
    }

    /// The same, for a value that must not be logged: it contains a secret or personal information.
    public var asSensitive: Schema {
        Schema(.object((json.object ?? [:]).merging([Self.sensitive: true]) { _, new in new }), definitions)
    }

    package static func union(_ schemas: some Sequence<Schema>) -> [String: JSON] {
        schemas.reduce(into: [:]) { all, schema in all.merge(schema.definitions) { _, new in new } }
    }

    private static func typed(
        _ type: String, _ meaning: String, _ more: [String: JSON] = [:], _ definitions: [String: JSON] = [:]
    ) -> Schema {
        var members = more
        members["type"] = .string(type)
        if !meaning.isEmpty { members["description"] = .string(meaning) }
        return Schema(.object(members), definitions)
    }
}
