import FoundationEssentials

/// What the value of a member of an ``Answer`` may be.
package protocol AnswerValue: Sendable {
    static func schema(_ meaning: String) -> Schema
    /// Whether a member with such a value is always there.
    static var isRequired: Bool { get }
    /// `nil` where the member is missing.
    var inAnswer: JSON? { get }
}

extension AnswerValue {
    package static var isRequired: Bool { true }
}

extension AnswerValue where Self: BinaryInteger {
    package static func schema(_ meaning: String) -> Schema { .integer(meaning) }
    package var inAnswer: JSON? { .integer(Int64(self)) }
}

extension AnswerValue where Self: RawRepresentable<String> & CaseIterable {
    package static func schema(_ meaning: String) -> Schema { .choice(meaning, of: Self.self) }
    package var inAnswer: JSON? { .string(rawValue) }
}

extension Int: AnswerValue {}
extension Int64: AnswerValue {}
extension Int32: AnswerValue {}
extension UInt32: AnswerValue {}

extension Bool: AnswerValue {
    package static func schema(_ meaning: String) -> Schema { .boolean(meaning) }
    package var inAnswer: JSON? { .bool(self) }
}

extension String: AnswerValue {
    package static func schema(_ meaning: String) -> Schema { .string(meaning) }
    package var inAnswer: JSON? { .string(self) }
}

extension Date: AnswerValue {
    package static func schema(_ meaning: String) -> Schema { .time(meaning) }
    package var inAnswer: JSON? { .string(formatted(.iso8601)) }
}

/// Any JSON; a member that is `null` is there.
extension JSON: AnswerValue {
    package static func schema(_ meaning: String) -> Schema { .anything(meaning) }
    package var inAnswer: JSON? { self }
}

extension [String: JSON]: AnswerValue {
    package static func schema(_ meaning: String) -> Schema { .openObject(meaning) }
    package var inAnswer: JSON? { .object(self) }
}

extension Array: AnswerValue where Element: AnswerValue {
    package static func schema(_ meaning: String) -> Schema { .array(of: Element.schema(""), meaning) }
    package var inAnswer: JSON? { .array(compactMap(\.inAnswer)) }
}

extension Optional: AnswerValue where Wrapped: AnswerValue {
    package static func schema(_ meaning: String) -> Schema { Wrapped.schema(meaning) }
    package static var isRequired: Bool { false }
    package var inAnswer: JSON? { flatMap(\.inAnswer) }
}
