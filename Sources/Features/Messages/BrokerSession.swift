import AgentCore
import Cryptography
import Gateway
import Groundwork
import Messaging
import OAuth

/// The board at the broker, or the user who is logged in on it: topics, outbox and connection.
///
/// Each broker has its own outbox file, because topics and receivers are its own: after switching back, waiting
/// messages are still there. Messages accepted for a former device identifier are never sent. A user's messages are
/// kept nowhere: they are accepted when the broker has them.
package struct BrokerSession: Sendable {
    /// Seen from the user where there is one.
    package let topics: TopicNamespace
    /// Where the device's readings go.
    package let telemetryTopic: Topic
    /// What the agent itself publishes to: the device's readings, and whether it is there.
    package let ownTopics: Set<String>
    /// `nil` for the device itself.
    package let user: UserStatus?
    package let outbox: Outbox
    /// `nil` if there is none yet; a user's broker session never has one.
    package var inboxes: InboxStore?
    package let messenger: Messenger
    /// The subscriptions of local programs; they end with the broker session.
    package let subscriptions: OpenSubscriptions

    /// - Parameters:
    ///   - device: what the board is called at the broker: at a gateway the device identifier (MAG 9.2). Messages that
    ///     were accepted for another are never sent.
    ///   - clock: for the age of messages.
    ///   - outboxIsSuspect: whether the outbox turned out to be damaged when it was read.
    /// - Throws: `MessagingError` if the outbox cannot be opened, or a topic of the settings is not valid.
    package init(
        device: String, access: any BrokerAccess, settings: AgentConfiguration, network: NetworkWatch,
        clock: WatchedClock, outboxIsSuspect: Bool = false
    ) async throws {
        topics = try access.topics(of: device)
        user = nil
        subscriptions = OpenSubscriptions()
        let addresses = access.addresses
        var messaging = MessengerSettings(settings.broker, access, network)
        let presence = try topics.custom(settings.broker.statusTopic)
        if settings.broker.presence != .off { messaging.presenceTopic = presence }
        messaging.retainsPresence = settings.broker.presence == .retained
        if access.reportsErrors { messaging.reportTopic = try topics.errors }
        telemetryTopic = try topics.custom(settings.telemetry.topic)
        ownTopics = [telemetryTopic.name, presence.name]
        let inboxes = try await InboxStore.open(
            ofScope: access.scope, owner: device, topics: topics, settings: settings, clock: clock)
        self.inboxes = inboxes
        do {
            outbox = try await Outbox.open(
                at: "\(settings.stateDirectory)/\(Self.outboxName(access.scope))", owner: device,
                policy: OutboxPolicy(settings.outbox), durability: settings.outbox.durable ? .disk : .memory,
                isSuspect: outboxIsSuspect, clock: clock)
        } catch {
            await inboxes?.close()
            throw error
        }
        messenger = Messenger(addresses: addresses, outbox: outbox, inboxes: inboxes, settings: messaging) {
            try await access.credentials(of: device, at: $0)
        }
    }

    /// The logged-in user of a device, with a connection of that user's (MAG 9.1).
    ///
    /// - Throws: ``MessagingError`` for a user whose name cannot be part of a topic.
    package init(
        _ user: UserStatus, of board: BrokerSession, access: GatewayBrokerAccess, settings: AgentConfiguration,
        network: NetworkWatch
    ) async throws {
        guard let name = user.userName else { throw MessagingError.userUnusable(name: nil) }
        topics = try board.topics.ofUser(name)
        (telemetryTopic, ownTopics) = (board.telemetryTopic, board.ownTopics)
        self.user = user
        subscriptions = OpenSubscriptions(endingWith: MessagingError.userRequired)
        inboxes = nil
        outbox = try await Outbox.open(at: "", policy: OutboxPolicy(settings.outbox), durability: .broker)
        var messaging = MessengerSettings(settings.broker, access, network)
        if access.reportsErrors { messaging.reportTopic = try topics.errors }
        messenger = Messenger(addresses: board.messenger.addresses, outbox: outbox, settings: messaging) {
            try await access.credentials(of: user, named: name, at: $0)
        }
    }

    /// Accepts messages at the outbox; while a user's session is locked, that user's are refused for this reason.
    package func accept(_ messages: [OutgoingMessage]) async throws -> [Int64] {
        do {
            return try await outbox.accept(messages)
        } catch {
            throw refusal(error)
        }
    }

    /// Why messages are refused, which the outbox knows in part.
    package func refusal(_ error: MessagingError) -> any Error { error == .userRequired ? subscriptions.ending : error }

    /// A filter below the broker session's own topics.
    package func filter(_ filter: String) throws -> TopicFilter {
        try topics.custom(filter: filter)
    }

    /// Erases a broker's outbox and inboxes, which must not be open, with their messages and what was set aside.
    package static func removeMessages(of scope: String, in directory: String) {
        Outbox.remove(at: "\(directory)/\(outboxName(scope))")
        InboxStore.remove(at: "\(directory)/\(inboxName(scope))")
    }

    package static func inboxName(_ scope: String) -> String { "inbox" + outboxName(scope).dropFirst("outbox".count) }

    /// The file name of a broker's outbox: a readable part of its scope, such as `host:port/prefix`, and a hash of all of
    /// it, because a file name allows neither every character nor every length.
    package static func outboxName(_ scope: String) -> String {
        let shown = scope.prefix(64).map {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") ? $0 : "_"
        }
        return "outbox-\(String(shown))-\(Hex.encode(SHA256.hash(scope.utf8).prefix(8))).db"
    }
}

extension MessengerSettings {
    fileprivate init(_ settings: BrokerSettings, _ access: any BrokerAccess, _ network: NetworkWatch) {
        self.init()
        keepAlive = .seconds(settings.keepAliveSeconds)
        window = settings.window
        proxy = { [way = access.way] in try way.proxy(to: $0) }
        leastDelay = { [hosts = access.addresses.map(\.host)] in hosts.map(network.leastDelay(to:)).min() ?? .zero }
    }
}

extension OutboxPolicy {
    package init(_ settings: OutboxSettings) {
        self.init(
            limitBytes: settings.limitBytes, maxAge: .seconds(settings.maxAgeHours * 3600),
            payloadLimit: settings.payloadLimitBytes)
        spill = .milliseconds(settings.spillMilliseconds)
        flush = .seconds(settings.flushSeconds)
    }
}
