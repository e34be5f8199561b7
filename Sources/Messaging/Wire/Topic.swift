/// The name that a message is published under (MQTT 3.1.1 section 4.7): 1 to 65,535 bytes of UTF-8, no NUL, no
/// wildcard.
public struct Topic: Sendable, Hashable {
    /// The most bytes of a topic or filter: their length is sent in two bytes (MQTT 3.1.1 section 1.5.3).
    public static let limit = 65_535
    /// The most levels that libmosquitto and Mosquitto accept.
    public static let levelLimit = 200

    public let name: String

    /// - Throws: ``MessagingError/invalidTopic(_:_:)``
    public init(_ name: String) throws(MessagingError) {
        if let fault = Self.fault(of: name) { throw .invalidTopic(name.quoted, fault) }
        self.name = name
    }

    private static func fault(of name: String) -> TopicFault? {
        if let fault = TopicFault(inText: name) { return fault }
        return name.utf8.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") } ? .wildcard : nil
    }
}

extension Topic: CustomStringConvertible {
    public var description: String { name }
}

extension String {
    /// The text as quoted in an error: shortened if it is long.
    var quoted: String { count > 80 ? prefix(80) + "…" : self }
}

/// A fault in the text of a topic or filter.
public enum TopicFault: Sendable, Equatable {
    case empty
    case tooLong(bytes: Int)
    case tooDeep(levels: Int)
    /// U+0000 (MQTT 3.1.1 section 1.5.3) or another control or non-character, for which a broker may end the
    /// connection.
    case forbiddenCharacter
    /// `+` or `#` in a topic to publish to.
    case wildcard
    /// `+` or `#` beside other characters of its level, or `#` before the last level (MQTT 3.1.1 section 4.7.1).
    case misplacedWildcard
    /// An identifier with a slash, which would extend into other topics.
    case severalLevels
    /// A template that does not end with the name, or has other names in braces.
    case notATemplate
    /// A receiver at a broker whose topics have none.
    case noReceivers

    /// The fault that a topic and a filter can both have.
    init?(inText text: String) {
        let bytes = text.utf8
        guard !bytes.isEmpty else {
            self = .empty
            return
        }
        guard bytes.count <= Topic.limit else {
            self = .tooLong(bytes: bytes.count)
            return
        }
        let levels = bytes.count { $0 == UInt8(ascii: "/") } + 1
        guard levels <= Topic.levelLimit else {
            self = .tooDeep(levels: levels)
            return
        }
        guard !text.unicodeScalars.contains(where: Self.isForbidden) else {
            self = .forbiddenCharacter
            return
        }
        return nil
    }

    /// Control characters and non-characters; libmosquitto refuses them too.
    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F, 0xFDD0...0xFDEF: true
        default: scalar.value & 0xFFFE == 0xFFFE
        }
    }
}

extension TopicFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .empty: "it is empty"
        case .tooLong(let bytes): "it has \(bytes) bytes, more than \(Topic.limit)"
        case .tooDeep(let levels): "it has \(levels) levels, more than \(Topic.levelLimit)"
        case .forbiddenCharacter: "it contains a control character"
        case .wildcard: "a topic to publish to cannot have wildcards"
        case .misplacedWildcard: "+ must be a whole level, and # the whole last level"
        case .notATemplate: "it has to end with the level {name}, and may have {device} before it"
        case .noReceivers: "only the broker of a gateway has topics for receivers; publish to a topic instead"
        case .severalLevels: "an identifier in a topic cannot have a slash"
        }
    }
}
