import Foundation
import Groundwork

/// The lab's own reading of SCIM filters (RFC 7644 section 3.4.2.2), in the standard spelling and in that of one
/// client, which repeats `filter=` before each comparison and has an infix `not` (MAG quirk Q16).
struct SCIMFilterText {
    private var words: ArraySlice<String>

    /// - Throws: ``SCIMFault``
    static func matcher(_ text: String) throws(SCIMFault) -> (JSON) -> Bool {
        guard text.utf8.count <= 4096 else { throw SCIMFault(400, "invalidFilter", "The filter is too long") }
        var reader = SCIMFilterText(words: try split(text)[...])
        let matcher = try reader.anyOf(0)
        guard reader.words.isEmpty else { throw invalid }
        return matcher
    }

    private static let invalid = SCIMFault(400, "invalidFilter", "The filter is not valid")

    /// Parentheses, and words with their quoted parts.
    private static func split(_ text: String) throws(SCIMFault) -> [String] {
        var words: [String] = []
        var word = ""
        var quoted = false
        var escaped = false
        for character in text {
            if quoted {
                word.append(character)
                if escaped {
                    escaped = false
                } else if character == "\\" {
                    escaped = true
                } else if character == "\"" {
                    quoted = false
                }
            } else if character == " " || character == "(" || character == ")" {
                if !word.isEmpty { words.append(word) }
                word = ""
                if character != " " { words.append(String(character)) }
            } else {
                quoted = character == "\""
                word.append(character)
            }
        }
        guard !quoted else { throw invalid }
        if !word.isEmpty { words.append(word) }
        return words.map { $0.lowercased().hasPrefix("filter=") ? String($0.dropFirst(7)) : $0 }.filter { !$0.isEmpty }
    }

    private mutating func anyOf(_ depth: Int) throws(SCIMFault) -> (JSON) -> Bool {
        var result = try allOf(depth)
        while words.first?.lowercased() == "or" {
            words.removeFirst()
            let (left, right) = (result, try allOf(depth))
            result = { left($0) || right($0) }
        }
        return result
    }

    private mutating func allOf(_ depth: Int) throws(SCIMFault) -> (JSON) -> Bool {
        var result = try one(depth)
        while let word = words.first?.lowercased(), word == "and" || word == "not" {
            if word == "and" { words.removeFirst() }
            let (left, right) = (result, try one(depth))
            result = { left($0) && right($0) }
        }
        return result
    }

    private mutating func one(_ depth: Int) throws(SCIMFault) -> (JSON) -> Bool {
        guard depth < 20, let word = words.popFirst() else { throw Self.invalid }
        if word.lowercased() == "not" {
            let inner = try one(depth + 1)
            return { !inner($0) }
        }
        if word == "(" {
            let inner = try anyOf(depth + 1)
            guard words.popFirst() == ")" else { throw Self.invalid }
            return inner
        }
        guard let sign = words.popFirst()?.lowercased() else { throw Self.invalid }
        let path = word.split(separator: ".").map(String.init)
        if sign == "pr" { return { !SCIMValues.at(path, of: $0).isEmpty } }
        guard ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"].contains(sign), let literal = words.popFirst(),
            let value = try? JSON(parsing: Array(literal.utf8))
        else { throw Self.invalid }
        return { resource in
            let values = SCIMValues.at(path, of: resource)
            // "not equal" is true of what has no such attribute.
            if sign == "ne" { return !values.contains { SCIMValues.order($0, value) == 0 } }
            return values.contains { Self.holds($0, sign, value) }
        }
    }

    private static func holds(_ held: JSON, _ sign: String, _ wanted: JSON) -> Bool {
        if let held = held.string?.lowercased(), let wanted = wanted.string?.lowercased() {
            switch sign {
            case "co": return held.contains(wanted)
            case "sw": return held.hasPrefix(wanted)
            case "ew": return held.hasSuffix(wanted)
            default: break
            }
        }
        guard let order = SCIMValues.order(held, wanted) else { return false }
        return switch sign {
        case "eq": order == 0
        case "gt": order > 0
        case "ge": order >= 0
        case "lt": order < 0
        case "le": order <= 0
        default: false
        }
    }
}

/// Values of a resource's attributes.
enum SCIMValues {
    /// The values at a path; an attribute with several values has each, and `emails` alone means `emails.value`.
    static func at(_ path: [String], of resource: JSON) -> [JSON] {
        var values = [resource]
        for name in path {
            values = values.flatMap { value -> [JSON] in
                let found = value.object?.first { $0.key.lowercased() == name.lowercased() }?.value
                return found?.array ?? found.map { [$0] } ?? []
            }
        }
        return values.map { $0["value"] ?? $0 }.filter { $0 != .null && $0 != "" }
    }

    /// Negative if the first comes before the second; `nil` if they cannot be compared. Text is compared without regard
    /// to case.
    static func order(_ left: JSON, _ right: JSON) -> Int? {
        if let left = left.string?.lowercased(), let right = right.string?.lowercased() {
            return left == right ? 0 : left < right ? -1 : 1
        }
        if let left = left.number, let right = right.number { return left == right ? 0 : left < right ? -1 : 1 }
        if let left = left.bool, let right = right.bool { return left == right ? 0 : 1 }
        return nil
    }
}

/// An error answer of SCIM (RFC 7644 section 3.12).
struct SCIMFault: Error {
    let status: Int
    let type: String?
    let detail: String

    init(_ status: Int, _ type: String? = nil, _ detail: String) {
        self.status = status
        self.type = type
        self.detail = detail
    }

    var response: WireResponse {
        var body: [String: JSON] = [
            "schemas": ["urn:ietf:params:scim:api:messages:2.0:Error"], "status": .string("\(status)"),
            "detail": .string(detail),
        ]
        body["scimType"] = type.map(JSON.string)
        return .scim(.object(body), status: status)
    }
}

extension WireResponse {
    static func scim(_ value: JSON, status: Int = 200) -> WireResponse {
        var response = WireResponse.json(value, status: status)
        response.headers[0].value = "application/scim+json"
        return response
    }
}
