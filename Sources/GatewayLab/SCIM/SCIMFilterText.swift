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

    /// Parentheses, brackets, and words with their quoted parts.
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
            } else if " ()[]".contains(character) {
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
        let path = SCIMPath(word)
        guard ![")", "[", "]"].contains(word), !path.names.isEmpty, let sign = words.popFirst()?.lowercased() else {
            throw Self.invalid
        }
        if sign == "[" {
            // All of it has to be true of one and the same value.
            let inner = try anyOf(depth + 1)
            guard words.popFirst() == "]" else { throw Self.invalid }
            return { path.elements(of: $0).contains { inner($0.object == nil ? ["value": $0] : $0) } }
        }
        if sign == "pr" { return { !path.values(of: $0).isEmpty } }
        guard ["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"].contains(sign), let literal = words.popFirst(),
            let value = try? JSON(parsing: Array(literal.utf8))
        else { throw Self.invalid }
        return { resource in
            let values = path.values(of: resource)
            // "not equal" is true of what has no such attribute.
            if sign == "ne" { return !values.contains { $0.scimOrder(to: value) == 0 } }
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
        guard let order = held.scimOrder(to: wanted) else { return false }
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
