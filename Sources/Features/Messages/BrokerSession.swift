import AgentCore
import Cryptography
import Gateway
import Groundwork
import Messaging
import OAuth

/// A registered device at the broker, or the user who is logged in on it: topics, outbox and connection.
///
/// Each gateway has its own outbox file, because topics and receivers are that gateway's: after switching back, waiting
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
    ///   - device: the device identifier, the segment of its own topics (MAG 9.2).
    ///   - clock: for the age of messages.
    ///   - outboxIsSuspect: whether the outbox turned out to be damaged when it was read.
    /// - Throws: `MessagingError` if the outbox cannot be opened, or a topic of the settings is not valid.
    package init(
        device: String, session: GatewaySession, gateway: GatewayConfiguration, settings: AgentConfiguration,
        network: NetworkWatch, clock: WatchedClock, outboxIsSuspect: Bool = false
    ) async throws {
        topics = try TopicNamespace(
            prefix: gateway.identity.prefix, version: settings.broker.topicVersion, deviceID: device)
        user = nil
        subscriptions = OpenSubscriptions()
        let (broker, master) = (BrokerAddress(settings.broker, of: gateway), gateway.masterClientID)
        var messaging = MessengerSettings(settings.broker)
        messaging.leastDelay = { network.leastDelay(to: broker.host) }
        let presence = try topics.custom(settings.broker.statusTopic)
        if settings.broker.presence != .off { messaging.presenceTopic = presence }
        messaging.retainsPresence = settings.broker.presence == .retained
        if settings.broker.reportsErrors { messaging.reportTopic = try topics.errors }
        telemetryTopic = try topics.custom(settings.telemetry.topic)
        ownTopics = [telemetryTopic.name, presence.name]
        let inboxes = try await InboxStore.open(
            ofScope: gateway.identity.scope, owner: device, topics: topics, settings: settings,
            clock: clock)
        self.inboxes = inboxes
        do {
            outbox = try await Outbox.open(
                at: "\(settings.stateDirectory)/\(Self.outboxName(gateway.identity.scope))", owner: device,
                policy: OutboxPolicy(settings.outbox), durability: settings.outbox.durable ? .disk : .memory,
                isSuspect: outboxIsSuspect, clock: clock)
        } catch {
            await inboxes?.close()
            throw error
        }
        messenger = Messenger(address: broker, outbox: outbox, inboxes: inboxes, settings: messaging) {
            let token = try await session.accessToken()
            let identity = try await ConnectingIdentity(of: session, at: broker, settings.broker)
            return identity.credentials(of: device, client: master, token: token.value, by: settings.broker)
        }
    }

    /// The logged-in user of a device, with a connection of that user's (MAG 9.1).
    ///
    /// - Throws: ``MessagingError`` for a user whose name cannot be part of a topic.
    package init(
        _ user: UserStatus, of board: BrokerSession, session: GatewaySession, gateway: GatewayConfiguration,
        settings: AgentConfiguration, network: NetworkWatch
    ) async throws {
        guard let name = user.userName else { throw MessagingError.userUnusable(name: nil) }
        topics = try TopicNamespace(
            prefix: board.topics.prefix, version: board.topics.version, deviceID: board.topics.deviceID, userID: name)
        (telemetryTopic, ownTopics) = (board.telemetryTopic, board.ownTopics)
        self.user = user
        subscriptions = OpenSubscriptions(endingWith: MessagingError.userRequired)
        inboxes = nil
        outbox = try await Outbox.open(at: "", policy: OutboxPolicy(settings.outbox), durability: .broker)
        let (broker, master) = (board.messenger.address, gateway.masterClientID)
        var messaging = MessengerSettings(settings.broker)
        messaging.leastDelay = { network.leastDelay(to: broker.host) }
        if settings.broker.reportsErrors { messaging.reportTopic = try topics.errors }
        messenger = Messenger(address: broker, outbox: outbox, settings: messaging) {
            let token = try await session.accessToken(ofUserLoggedInAt: user.loggedInAt)
            let identity = try await ConnectingIdentity(of: session, at: broker, settings.broker)
            return BrokerCredentials(
                clientID: "\(identity.magIdentifier)::\(master)::\(name)", userName: name, password: token.value,
                tls: identity.tls)
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

    /// Erases a gateway's outbox and inboxes, which must not be open, with their messages and what was set aside.
    package static func removeMessages(of scope: String, in directory: String) {
        Outbox.remove(at: "\(directory)/\(outboxName(scope))")
        InboxStore.remove(at: "\(directory)/\(inboxName(scope))")
    }

    package static func inboxName(_ scope: String) -> String { "inbox" + outboxName(scope).dropFirst("outbox".count) }

    /// The file name of a gateway's outbox: a readable part of its scope `host:port/prefix`, and a hash of all of it,
    /// because a file name allows neither every character nor every length.
    package static func outboxName(_ scope: String) -> String {
        let shown = scope.prefix(64).map {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") ? $0 : "_"
        }
        return "outbox-\(String(shown))-\(Hex.encode(SHA256.hash(scope.utf8).prefix(8))).db"
    }
}

/// The credentials for the broker, whosever connection it is; obtained before each connect, after the token.
private struct ConnectingIdentity {
    let magIdentifier: String
    let tls: TLSContext

    init(of session: GatewaySession, at broker: BrokerAddress, _ settings: BrokerSettings) async throws {
        guard let magIdentifier = try await session.status().magIdentifier, let identity = try await session.identity()
        else { throw GatewayError.notRegistered }
        self.magIdentifier = magIdentifier
        // The broker has the gateway's certificate authority (MAG 9.1), even if the settings name another host for it.
        var trust = try session.trust(for: session.configuration.identity.host)
        trust.host = broker.host
        tls = try TLSContext(
            trust: trust, identity: identity, applicationProtocol: settings.alpn.isEmpty ? nil : settings.alpn)
    }

    /// The board's own, as the settings say: the protocol has none for a board without a user.
    func credentials(
        of device: String, client: String, token: SecretBytes, by settings: BrokerSettings
    ) -> BrokerCredentials {
        let names = ["mag-identifier": magIdentifier, "client": client, "device": device]
        let userName = LoginTemplate.fill(settings.userName, with: names)
        let secrets = names.merging(["token": token.exposedText()]) { own, _ in own }
        let password = LoginTemplate.fill(settings.password, with: secrets)
        return BrokerCredentials(
            clientID: LoginTemplate.fill(settings.clientID, with: names), userName: userName.isEmpty ? nil : userName,
            password: password.isEmpty ? nil : SecretBytes(utf8: password), tls: tls)
    }
}

extension BrokerAddress {
    fileprivate init(_ settings: BrokerSettings, of gateway: GatewayConfiguration) {
        self.init(
            host: settings.host.isEmpty ? gateway.identity.host : settings.host,
            port: settings.port == 0 ? gateway.announcedBrokerPort ?? Self.standardPort : settings.port,
            webSocketPath: settings.way.webSocketPath.isEmpty ? nil : settings.way.webSocketPath)
    }
}

extension MessengerSettings {
    fileprivate init(_ settings: BrokerSettings) {
        self.init()
        keepAlive = .seconds(settings.keepAliveSeconds)
        window = settings.window
        proxy = { [way = settings.way] in try way.proxy(to: $0) }
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
