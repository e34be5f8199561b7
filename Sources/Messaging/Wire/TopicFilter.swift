/// What a subscription asks for: a topic whose levels may be `+` (any one) and whose last may be `#` (any number, also
/// none) (MQTT 3.1.1 section 4.7).
public struct TopicFilter: Sendable, Hashable {
    public let text: String

    /// - Throws: ``MessagingError/invalidFilter(_:_:)``
    public init(_ text: String) throws(MessagingError) {
        if let fault = Self.fault(of: text) { throw .invalidFilter(text.quoted, fault) }
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
        var (filter, topic) = (text, topic)
        // Asked for every message and every subscriber: over the bytes in place.
        return filter.withUTF8 { filter in topic.withUTF8 { Self.matches(filter, $0) } }
    }

    private static func matches(_ filter: UnsafeBufferPointer<UInt8>, _ topic: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = topic.first, !filter.isEmpty else { return false }
        if first == dollar, filter[0] == plus || filter[0] == hash { return false }
        // Where the levels begin; beyond the end there is none.
        var (asked, given) = (0, 0)
        while true {
            let level = filter[asked..<end(of: asked, in: filter)]
            if level.count == 1, level.first == hash { return true }
            guard given <= topic.count else { return false }
            let name = topic[given..<end(of: given, in: topic)]
            guard level.count == 1 && level.first == plus || level.elementsEqual(name) else { return false }
            given = name.endIndex + 1
            guard level.endIndex < filter.count else { return given > topic.count }
            asked = level.endIndex + 1
        }
    }

    private static func end(of start: Int, in text: UnsafeBufferPointer<UInt8>) -> Int {
        text[start...].firstIndex(of: slash) ?? text.count
    }

    private static let slash = UInt8(ascii: "/")
    private static let plus = UInt8(ascii: "+")
    private static let hash = UInt8(ascii: "#")
    private static let dollar = UInt8(ascii: "$")
}

extension TopicFilter: CustomStringConvertible {
    public var description: String { text }
}
