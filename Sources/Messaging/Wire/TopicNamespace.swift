import Groundwork

/// The topics of a broker, seen from one device: those of a gateway (MAG 9.2), or of any other broker by a template.
///
///     let topics = try TopicNamespace(prefix: "", deviceID: "3f9a…")
///     try topics.custom("telemetry")      // /2.0/client/devices/3f9a…/custom/telemetry
///     try topics.user("alice", "doorbell") // /2.0/client/users/alice/custom/doorbell
///     try TopicNamespace(template: "sites/{device}/{name}", deviceID: "pump").custom("level")    // sites/pump/level
public struct TopicNamespace: Sendable, Hashable {
    /// The gateway's prefix with one leading slash, or empty (MAG quirk Q15).
    public let prefix: String
    /// The first level after the prefix, `2.0` at the gateway.
    public let version: String
    /// What the device's own topics begin with at a broker without a gateway.
    private let start: String?
    public let deviceID: String
    /// The user logged in on this device; `nil` for a board without a user.
    public private(set) var userID: String?

    /// - Parameters:
    ///   - prefix: `server.prefix` as in the configuration; slashes around it are ignored.
    ///   - version: another first level, for brokers that cannot use the gateway's: RabbitMQ turns its dot into a
    ///     slash.
    ///   - deviceID: the device identifier; one level of a topic.
    /// - Throws: ``MessagingError/invalidTopic(_:_:)`` when one of them cannot be part of a topic.
    public init(
        prefix: String, version: String = standardVersion, deviceID: String, userID: String? = nil
    ) throws(MessagingError) {
        let bare = prefix.trimming { $0 == "/" }
        self.prefix = bare.isEmpty ? "" : "/\(bare)"
        start = nil
        self.version = try Self.level(version)
        self.deviceID = try Self.level(deviceID)
        self.userID = try userID.map { user throws(MessagingError) in try Self.level(user) }
        _ = try Topic(own("check"))
    }

    /// Topics of a broker without a gateway: the device has no users there, and knows no receivers.
    ///
    /// - Parameters:
    ///   - template: ends with `{name}`, which stands for the topics of the device; `{device}` stands for its
    ///     identifier.
    ///   - deviceID: one level of a topic.
    /// - Throws: ``MessagingError/invalidTopic(_:_:)``
    public init(template: String, deviceID: String) throws(MessagingError) {
        guard let start = Self.start(of: template) else { throw .invalidTopic(template.quoted, .notATemplate) }
        (prefix, version) = ("", Self.standardVersion)
        self.deviceID = try Self.level(deviceID)
        self.start = start.split(separator: "{device}", omittingEmptySubsequences: false).joined(separator: deviceID)
        _ = try Topic(own("check"))
    }

    /// What comes before the name in a template; `nil` if it does not end with one, or has other braces.
    private static func start(of template: String) -> String? {
        let name = "{name}"
        guard template == name || template.hasSuffix("/" + name) else { return nil }
        let start = String(template.dropLast(name.count))
        let rest = start.split(separator: "{device}", omittingEmptySubsequences: false).joined()
        return rest.contains { $0 == "{" || $0 == "}" } ? nil : start
    }

    /// The same, seen from a user who is logged in on the device.
    public func ofUser(_ user: String) throws(MessagingError) -> TopicNamespace {
        var topics = self
        topics.userID = try Self.level(user)
        _ = try Topic(topics.own("check"))
        return topics
    }

    /// The version level of the gateway's topics (MAG 9.2).
    public static let standardVersion = "2.0"

    /// The same without the user.
    public var ofDevice: TopicNamespace {
        var topics = self
        topics.userID = nil
        return topics
    }

    /// A topic of this device: the user's if one is logged in, otherwise the device's own.
    public func custom(_ topic: String) throws(MessagingError) -> Topic { try Self.topic(own(""), topic) }

    /// A filter below the topics that ``custom(_:)`` gives.
    ///
    /// - Throws: ``MessagingError/invalidFilter(_:_:)``, which quotes `filter` alone.
    public func custom(filter: String) throws(MessagingError) -> TopicFilter {
        guard !filter.isEmpty else { throw .invalidFilter("", .empty) }
        do {
            return try TopicFilter(own(filter))
        } catch {
            guard case .invalidFilter(_, let fault) = error else { throw error }
            throw .invalidFilter(filter.quoted, fault)
        }
    }

    /// The filter for everything sent to this device: the user's topics if one is logged in, otherwise the device's
    /// own.
    public var ownFilter: TopicFilter {
        get throws(MessagingError) { try custom(filter: "#") }
    }

    /// The name that ``custom(_:)`` made this topic from; `nil` for a topic of another device or user.
    public func shortened(_ topic: String) -> String? {
        let start = own("")
        guard topic.hasPrefix(start), topic.utf8.count > start.utf8.count else { return nil }
        return String(topic.dropFirst(start.count))
    }

    /// A topic of a user within this application. A message to a user without a topic goes to the topic named after
    /// the user.
    public func user(_ user: String, _ topic: String? = nil) throws(MessagingError) -> Topic {
        try Self.topic("\(prefix)/\(version)/client/users/\(Self.receiver(user))/custom/", topic ?? user)
    }

    /// A topic of a user across applications.
    public func userAcrossApplications(_ user: String, _ topic: String) throws(MessagingError) -> Topic {
        try Self.topic("\(prefix)/\(version)/users/\(Self.receiver(user))/custom/", topic)
    }

    /// A topic of a device.
    public func device(_ device: String, _ topic: String) throws(MessagingError) -> Topic {
        try Self.topic("\(prefix)/\(version)/client/devices/\(Self.receiver(device))/custom/", topic)
    }

    /// A topic of a group.
    public func group(_ group: String, _ topic: String) throws(MessagingError) -> Topic {
        try Self.topic("\(prefix)/\(version)/client/groups/\(Self.receiver(group))/custom/", topic)
    }

    /// A topic of the application.
    public func application(_ topic: String) throws(MessagingError) -> Topic {
        try Self.topic("\(prefix)/\(version)/client/custom/", topic)
    }

    /// The topics that a message goes to: one, or one for each member of a group whose members are known.
    ///
    /// - Parameter topic: below the receiver's own; the receiver's identifier unless given (MAG 9.2).
    /// - Throws: ``MessagingError/invalidReceiver(_:_:)``, ``MessagingError/invalidTopic(_:_:)``
    public func topics(of receiver: Receiver, _ topic: String? = nil) throws(MessagingError) -> [Topic] {
        guard start == nil else { throw .invalidReceiver(receiver.id.quoted, .noReceivers) }
        return switch receiver {
        case .user(let id): [try user(id, topic)]
        case .userAcrossApplications(let id): [try userAcrossApplications(id, topic ?? id)]
        case .device(let id): [try device(id, topic ?? id)]
        case .application(let id): [try application(topic ?? id)]
        case .group(let id, let members):
            if members.isEmpty {
                [try group(id, topic ?? id)]
            } else {
                try members.map { member throws(MessagingError) in try user(member, topic) }
            }
        }
    }

    private func own(_ topic: String) -> String {
        if let start { return start + topic }
        if let userID { return "\(prefix)/\(version)/client/users/\(userID)/custom/\(topic)" }
        return "\(prefix)/\(version)/client/devices/\(deviceID)/custom/\(topic)"
    }

    /// A topic below `start`. Errors quote `name` alone: the caller does not know the rest.
    private static func topic(_ start: String, _ name: String) throws(MessagingError) -> Topic {
        guard !name.isEmpty else { throw .invalidTopic("", .empty) }
        do {
            return try Topic(start + name)
        } catch {
            guard case .invalidTopic(_, let fault) = error else { throw error }
            throw .invalidTopic(name.quoted, fault)
        }
    }

    private static func receiver(_ id: String) throws(MessagingError) -> String {
        do {
            return try level(id)
        } catch {
            guard case .invalidTopic(_, let fault) = error else { throw error }
            throw .invalidReceiver(id.quoted, fault)
        }
    }

    /// Checks that the text is a single level: an identifier with a slash or wildcard would name other devices' topics.
    private static func level(_ text: String) throws(MessagingError) -> String {
        let topic = try Topic(text)
        guard !text.utf8.contains(UInt8(ascii: "/")) else { throw .invalidTopic(topic.name, .severalLevels) }
        return text
    }
}

extension TopicNamespace {
    /// Where the broker reports errors to this device, or to its user: the topic among its own that ``isError(_:)``
    /// says so of.
    public var errors: Topic {
        get throws(MessagingError) { try custom("error") }
    }

    /// Whether the broker reports an error under this topic: its last level is `error` (MAG 9.2).
    public static func isError(_ topic: String) -> Bool { topic.hasSuffix("/error") || topic == "error" }
}
