import Groundwork

/// The header fields of a request or a response: names are compared without regard to case, order and repeats are kept
/// (RFC 9110 section 5).
public struct HTTPHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    /// One field line.
    public struct Field: Sendable, Equatable {
        public let name: String
        public let value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }

        /// Names that differ only in case are equal (RFC 9110 section 5.1); values are compared byte for byte.
        public static func == (one: Self, other: Self) -> Bool {
            one.isNamed(other.name) && one.value == other.value
        }

        func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }
    }

    /// The field lines in the order they were added or received.
    public private(set) var fields: [Field] = []

    public init() {}

    public init(_ fields: [Field]) { self.fields = fields }

    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field($0, $1) }
    }

    /// Whether a text is a token, as names of fields and methods are (RFC 9110 section 5.6.2).
    public static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { ASCII.isLetterOrDigit($0) || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    /// Name and value of each field line, in order.
    public var pairs: [(name: String, value: String)] { fields.map { ($0.name, $0.value) } }
    public var count: Int { fields.count }
    public var isEmpty: Bool { fields.isEmpty }

    /// Appends a field line, keeping any of the same name.
    public mutating func add(_ name: String, _ value: String) { fields.append(Field(name, value)) }

    /// Replaces all field lines of this name with one, in the place of the first or at the end.
    public mutating func set(_ name: String, _ value: String) {
        let place = fields.firstIndex { $0.isNamed(name) }
        remove(name)
        fields.insert(Field(name, value), at: place ?? fields.endIndex)
    }

    /// Removes every field line of this name.
    public mutating func remove(_ name: String) { fields.removeAll { $0.isNamed(name) } }

    /// The value of the first field line of this name.
    public func first(_ name: String) -> String? { fields.first { $0.isNamed(name) }?.value }

    /// The values of all field lines of this name, in order.
    public func all(_ name: String) -> [String] { fields.filter { $0.isNamed(name) }.map(\.value) }

    /// Joins a continuation line to the last field (obs-fold, RFC 9112 section 5.2).
    mutating func continueLast(with text: String) {
        guard let last = fields.popLast() else { return }
        add(last.name, last.value.isEmpty ? text : last.value + " " + text)
    }
}
