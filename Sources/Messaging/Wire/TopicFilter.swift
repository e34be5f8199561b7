/// What a subscription asks for: a topic whose levels may be `+` (any one) and whose last may be `#` (any number, also
/// none) (MQTT 3.1.1 section 4.7).
public struct TopicFilter: Sendable, Hashable {
    public let text: String

    /// - Throws: ``MessagingError/invalidFilter(_:_:)``
    public init(_ text: String) throws(MessagingError) {
        if let fault = Self.fault(of: text) { throw .invalidFilter(String(text.prefix(80)), fault) }
        self.text = text
    }

    /// The filter that asks for this topic alone.
    public init(_ topic: Topic) { text = topic.name }

    private static func fault(of text: String) -> TopicFault? {
        if let fault = TopicFault(inText: text) { return fault }
        let levels = text.utf8.split(separator: slash, omittingEmptySubsequences: false)
        for (index, level) in levels.enumerated() where level.contains(plus) || level.contains(hash) {
            guard level.count == 1, level.first == plus || index == levels.count - 1 else { return .misplacedWildcard }
        }
        return nil
    }

    /// Whether messages under this topic are asked for. A leading wildcard does not match topics that begin with `$`
    /// (MQTT 3.1.1 section 4.7.2).
    public func matches(_ topic: String) -> Bool {
        guard var asked = text.utf8.first.map({ _ in text.utf8[...] }), !topic.utf8.isEmpty else { return false }
        if topic.utf8.first == Self.dollar, asked.first == Self.plus || asked.first == Self.hash { return false }
        var given: Substring.UTF8View? = topic.utf8[...]
        while true {
            let (level, rest) = Self.split(asked)
            if level.elementsEqual([Self.hash]) { return true }
            guard let present = given else { return false }
            let (name, following) = Self.split(present)
            guard level.elementsEqual([Self.plus]) || level.elementsEqual(name) else { return false }
            given = following
            guard let rest else { return following == nil }
            asked = rest
        }
    }

    /// Cuts a level off; the rest is `nil` after the last.
    private static func split(_ text: Substring.UTF8View) -> (level: Substring.UTF8View, rest: Substring.UTF8View?) {
        guard let end = text.firstIndex(of: slash) else { return (text, nil) }
        return (text[..<end], text[text.index(after: end)...])
    }

    private static let slash = UInt8(ascii: "/")
    private static let plus = UInt8(ascii: "+")
    private static let hash = UInt8(ascii: "#")
    private static let dollar = UInt8(ascii: "$")
}

extension TopicFilter: CustomStringConvertible {
    public var description: String { text }
}
