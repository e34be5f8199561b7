import FoundationEssentials

/// A JSON value (RFC 8259), for documents whose faults are reported with their paths.
///
/// Foundation's parser reads it, which limits nesting by itself (and accepts a comma after the last element). Output
/// has sorted keys, so that equal values give equal bytes.
public enum JSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// - Throws: ``JSONError`` if the bytes are not JSON or longer than `limit`.
    public init(parsing bytes: some Collection<UInt8>, limit: Int = 1 << 20) throws(JSONError) {
        guard bytes.count <= limit else { throw JSONError.tooLong(bytes: bytes.count, limit: limit) }
        do {
            self = try JSONDecoder().decode(JSON.self, from: Data(bytes))
        } catch {
            throw JSONError.malformed
        }
    }

    public subscript(key: String) -> JSON? { if case .object(let members) = self { members[key] } else { nil } }
    public subscript(index: Int) -> JSON? {
        if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { nil }
    }

    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var array: [JSON]? { if case .array(let value) = self { value } else { nil } }
    public var object: [String: JSON]? { if case .object(let value) = self { value } else { nil } }

    /// A whole number, even if written as `3600.0`.
    public var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    public var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The type of this value in words.
    public var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

public enum JSONError: Explained, Equatable {
    case tooLong(bytes: Int, limit: Int)
    case malformed

    public var explanation: Explanation {
        switch self {
        case .tooLong(let bytes, let limit):
            Explanation("json.too-long", .tooLarge, "JSON text has \(bytes) bytes, more than the \(limit) allowed")
        case .malformed: Explanation("json.malformed", .invalidInput, "not a JSON text")
        }
    }

    public static let examples: [JSONError] = [.tooLong(bytes: 70_000, limit: 65_536), .malformed]
}

extension JSON: Decodable {
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let string = try? value.decode(String.self) {
            self = .string(string)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let object = try? value.decode([String: JSON].self) {
            self = .object(object)
        } else {
            self = .array(try value.decode([JSON].self))
        }
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }
    public init(nilLiteral: ()) { self = .null }
}
