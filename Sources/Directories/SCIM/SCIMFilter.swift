public import Groundwork

/// A filter of users or groups (RFC 7644 section 3.4.2.2; MAG 10).
public indirect enum SCIMFilter: Sendable, Equatable {
    public enum Operator: String, Sendable, CaseIterable { case eq, ne, co, sw, ew, gt, ge, lt, le }

    /// How filters that are joined are written.
    public enum Spelling: String, Sendable, CaseIterable {
        /// As RFC 7644 says.
        case standard
        /// As the public Android client does: each comparison begins with another `filter=` (MAG 10).
        case repeated
    }

    case compare(String, Operator, JSON)
    /// The attribute has a value (`pr`).
    case present(String)
    case and(SCIMFilter, SCIMFilter)
    case or(SCIMFilter, SCIMFilter)
    case not(SCIMFilter)

    /// The longest filter, in bytes, and the deepest nesting.
    static let lengthLimit = 2048
    static let depthLimit = 16

    /// The value of the query's `filter`, percent-encoded.
    ///
    /// - Throws: ``DirectoryError/filterInvalid(reason:)`` if the repeated spelling, which has no parentheses, cannot
    ///   express it.
    func encoded(_ spelling: Spelling) throws(DirectoryError) -> String {
        switch spelling {
        case .standard: return PercentEncoding.encode(text(within: 0))
        case .repeated:
            return try chain().map { joint, comparison in
                let text = PercentEncoding.encode(comparison)
                return joint.map { PercentEncoding.encode(" \($0) ") + "filter=" + text } ?? text
            }.joined()
        }
    }

    /// - Parameter strength: of what surrounds it: 0 nothing, 1 `or`, 2 `and`.
    private func text(within strength: Int) -> String {
        switch self {
        case .compare(let attribute, let sign, let value): return "\(attribute) \(sign) \(value.text)"
        case .present(let attribute): return "\(attribute) pr"
        case .not(let filter): return "not (\(filter.text(within: 0)))"
        case .and(let left, let right): return "\(left.text(within: 2)) and \(right.text(within: 2))"
        case .or(let left, let right):
            let text = "\(left.text(within: 1)) or \(right.text(within: 1))"
            return strength > 1 ? "(\(text))" : text
        }
    }

    /// The comparisons from left to right, each but the first with the word before it.
    private func chain() throws(DirectoryError) -> [(String?, String)] {
        switch self {
        case .compare, .present: return [(nil, text(within: 0))]
        case .and(let left, .not(let right)): return try Self.joined(left, "not", right)
        case .and(let left, let right): return try Self.joined(left, "and", right)
        case .or(let left, let right): return try Self.joined(left, "or", right)
        case .not: throw .filterInvalid(reason: "the repeated spelling cannot begin with not")
        }
    }

    private static func joined(
        _ left: SCIMFilter, _ word: String, _ right: SCIMFilter
    ) throws(DirectoryError) -> [(String?, String)] {
        let (first, second) = (try left.chain(), try right.chain())
        // Without parentheses a server reads "and" before "or", and from left to right.
        var groupsWrongly = second.count > 1 && !(word == "or" && right.isConjunction)
        if case .or = left, word != "or" { groupsWrongly = true }
        guard !groupsWrongly else {
            throw .filterInvalid(reason: "the repeated spelling has no parentheses; use the standard one")
        }
        return first + second.enumerated().map { $0.offset == 0 ? (word, $0.element.1) : $0.element }
    }

    private var isConjunction: Bool { if case .and = self { true } else { false } }
}
