public import Groundwork

/// What a JSON value looks like and means: a JSON Schema (2020-12), in which OpenAPI 3.1 describes bodies and parameters.
///
/// A text stands for any value with that meaning.
public struct Schema: Sendable, Equatable, ExpressibleByStringLiteral {
    /// The schema itself.
    public let json: JSON

    public init(_ json: JSON) { self.json = json }

    public init(stringLiteral meaning: String) { json = ["description": .string(meaning)] }

    /// - Parameter choices: the only values there are; empty: any text.
    public static func string(_ meaning: String, choices: [String] = []) -> Schema {
        typed("string", meaning, choices.isEmpty ? [:] : ["enum": .array(choices.map(JSON.string))])
    }

    public static func integer(_ meaning: String, in range: ClosedRange<Int64>? = nil) -> Schema {
        typed("integer", meaning, range.map { ["minimum": .integer($0.lowerBound), "maximum": .integer($0.upperBound)] } ?? [:])
    }

    public static func number(_ meaning: String) -> Schema { typed("number", meaning) }

    public static func boolean(_ meaning: String) -> Schema { typed("boolean", meaning) }

    public static func array(of element: Schema, _ meaning: String) -> Schema {
        typed("array", meaning, ["items": element.json])
    }

    /// - Parameter required: the members that are never missing.
    public static func object(
        _ members: [String: Schema], required: Set<String> = [], _ meaning: String = ""
    ) -> Schema {
        var more: [String: JSON] = ["properties": .object(members.mapValues(\.json))]
        if !required.isEmpty { more["required"] = .array(required.sorted().map(JSON.string)) }
        return typed("object", meaning, more)
    }

    private static func typed(_ type: String, _ meaning: String, _ more: [String: JSON] = [:]) -> Schema {
        var members = more
        members["type"] = .string(type)
        if !meaning.isEmpty { members["description"] = .string(meaning) }
        return Schema(.object(members))
    }
}
