/// The filter of a subscription: a topic whose levels may be `+` (any one level) and whose last may be `#` (any
/// number of levels, including none) (MQTT 3.1.1 section 4.7).
public struct TopicFilter: Sendable, Hashable {
    public let text: String

    /// - Throws: ``MessagingError/invalidFilter(_:_:)``
    public init(_ text: String) throws(MessagingError) {
        if let fault = Self.fault(of: text) { throw .invalidFilter(text.quoted, fault) }
        self.text = text
    }

    /// The filter that matches this topic alone.
    public init(_ topic: Topic) { text = topic.name }

    private static func fault(of text: String) -> TopicFault? {
        if let fault = TopicFault(inText: text) { return fault }
        let levels = text.utf8.split(separator: slash, omittingEmptySubsequences: false)
        for (index, level) in levels.enumerated() where level.contains(plus) || level.contains(hash) {
            guard level.count == 1, level.first == plus || index == levels.count - 1 else { return .misplacedWildcard }
        }
        return nil
    }

    /// Whether the filter matches this topic. A leading wildcard does not match topics that begin with `$`
    /// (MQTT 3.1.1 section 4.7.2).
    public func matches(_ topic: String) -> Bool {
        var (filter, topic) = (text, topic)
        // Called for every message and every subscriber, so it works on the bytes in place.
        return filter.withUTF8 { filter in topic.withUTF8 { Self.matches(filter, $0) } }
    }

    private static func matches(_ filter: UnsafeBufferPointer<UInt8>, _ topic: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = topic.first, !filter.isEmpty else { return false }
        if first == dollar, filter[0] == plus || filter[0] == hash { return false }
        // Start of the present level in the filter and in the topic.
        var (filterStart, topicStart) = (0, 0)
        while true {
            let level = filter[filterStart..<end(of: filterStart, in: filter)]
            if level.count == 1, level.first == hash { return true }
            guard topicStart <= topic.count else { return false }
            let name = topic[topicStart..<end(of: topicStart, in: topic)]
            guard level.count == 1 && level.first == plus || level.elementsEqual(name) else { return false }
            topicStart = name.endIndex + 1
            guard level.endIndex < filter.count else { return topicStart > topic.count }
            filterStart = level.endIndex + 1
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
