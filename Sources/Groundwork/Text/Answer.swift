/// The members of an object in an answer, written once: what each means, and where its value comes from.
///
/// A member whose value is optional is not required, and missing where the value is `nil`.
package struct Answer<Subject>: Sendable, ExpressibleByDictionaryLiteral {
    /// A member of answers about a subject.
    package struct Member: Sendable {
        fileprivate let schema: @Sendable () -> Schema
        fileprivate let isRequired: Bool
        fileprivate let json: @Sendable (Subject) -> JSON?

        /// A member whose schema follows from the type of its value.
        package static func of<Value: AnswerValue>(
            _ meaning: String, _ value: @escaping @Sendable (Subject) -> Value
        ) -> Member {
            schema(Value.schema(meaning), value)
        }

        /// A member whose schema says more than the type of its value.
        package static func schema<Value: AnswerValue>(
            _ schema: @autoclosure @escaping @Sendable () -> Schema, _ value: @escaping @Sendable (Subject) -> Value
        ) -> Member {
            Member(schema: schema, isRequired: Value.isRequired, json: { value($0).inAnswer })
        }
    }

    private let members: [(name: String, member: Member)]

    package init(dictionaryLiteral members: (String, Member)...) {
        self.members = members.map { (name: $0, member: $1) }
    }

    /// The schemas of the members.
    package var schemas: [String: Schema] {
        members.reduce(into: [:]) { schemas, next in schemas[next.name] = next.member.schema() }
    }

    /// The required members.
    package var required: Set<String> { Set(members.lazy.filter(\.member.isRequired).map(\.name)) }

    /// An object that has these members and no others.
    package func schema(_ meaning: String = "") -> Schema { .object(schemas, required: required, meaning) }

    /// The members that an answer about the subject has.
    package func members(of subject: Subject) -> [String: JSON] {
        members.reduce(into: [:]) { values, next in values[next.name] = next.member.json(subject) }
    }

    /// The answer about a subject.
    package func json(_ subject: Subject) -> JSON { .object(members(of: subject)) }
}

/// What has an answer of its own, and is a value in others.
package protocol Answered: AnswerValue {
    static var answer: Answer<Self> { get }
}

extension Answered {
    package static func schema(_ meaning: String = "") -> Schema { answer.schema(meaning) }
    package var inAnswer: JSON? { json }
    package var json: JSON { Self.answer.json(self) }
}
