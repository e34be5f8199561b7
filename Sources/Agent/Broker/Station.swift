import Cryptography
import Gateway
import Groundwork
import Messaging
import OAuth

/// A registered device at the broker: its topics, its outbox and its connection.
///
/// Each gateway has its own outbox file, because topics and receivers are that gateway's: after switching back, waiting
/// messages are still there. Messages accepted for a former device identifier are never sent.
struct Station: Sendable {
    let device: String
    let topics: TopicNamespace
    let outbox: Outbox
    let messenger: Messenger
    /// The subscriptions of local programs; they end with the station.
    let subscriptions = OpenSubscriptions()

    /// - Parameters:
    ///   - device: the device identifier, the segment of its own topics (MAG 9.2).
    ///   - outboxIsSuspect: whether the outbox turned out to be damaged when it was read.
    /// - Throws: `MessagingError` if the outbox cannot be opened, or a topic of the settings is not valid.
    init(
        device: String, session: GatewaySession, gateway: GatewayConfiguration, settings: AgentConfiguration,
        outboxIsSuspect: Bool = false
    ) async throws {
        let broker = BrokerAddress(
            host: settings.broker.host.isEmpty ? gateway.identity.host : settings.broker.host,
            port: settings.broker.port == 0
                ? gateway.announcedBrokerPort ?? BrokerAddress.standardPort : settings.broker.port)
        self.device = device
        topics = try TopicNamespace(
            prefix: gateway.identity.prefix, version: settings.broker.topicVersion, deviceID: device)
        var messaging = MessengerSettings()
        messaging.keepAlive = .seconds(settings.broker.keepAliveSeconds)
        messaging.window = settings.broker.window
        messaging.presenceTopic = try topics.custom(settings.broker.statusTopic)
        var policy = OutboxPolicy(
            limitBytes: settings.outbox.limitBytes, maxAge: .seconds(settings.outbox.maxAgeHours * 3600),
            payloadLimit: settings.outbox.payloadLimitBytes)
        policy.spill = .milliseconds(settings.outbox.spillMilliseconds)
        policy.flush = .seconds(settings.outbox.flushSeconds)
        outbox = try await Outbox.open(
            at: "\(settings.stateDirectory)/\(Self.outboxName(gateway.identity.scope))", owner: device,
            policy: policy,
            durability: settings.outbox.durable ? .disk : .memory, isSuspect: outboxIsSuspect)
        let master = gateway.masterClientID
        messenger = Messenger(address: broker, outbox: outbox, settings: messaging) {
            try await Self.credentials(of: session, master: master, device: device, broker: broker)
        }
    }

    /// The credentials for the broker (MAG 9.1), obtained before each connect, so that the token is fresh.
    private static func credentials(
        of session: GatewaySession, master: String, device: String, broker: BrokerAddress
    ) async throws -> BrokerCredentials {
        let token = try await session.accessToken()
        guard let magIdentifier = try await session.status().magIdentifier, let identity = try await session.identity()
        else {
            throw GatewayError.notRegistered
        }
        // The broker has the gateway's certificate authority (MAG 9.1), even if the settings name another host for it.
        var trust = try session.trust(for: session.configuration.identity.host)
        trust.host = broker.host
        // No user is logged in: the user part of the client id is left out, and the device itself is the user.
        return BrokerCredentials(
            clientID: "\(magIdentifier)::\(master)", userName: device, password: token.value,
            tls: try TLSContext(trust: trust, identity: identity))
    }

    /// A filter below the device's own topics.
    func filter(_ filter: String) throws -> TopicFilter {
        try topics.custom(filter: filter)
    }

    /// Removes a gateway's outbox, which must not be open, with its waiting messages.
    static func removeOutbox(of scope: String, in directory: String) {
        Outbox.remove(at: "\(directory)/\(outboxName(scope))")
    }

    /// The file name of a gateway's outbox: a readable part of its scope `host:port/prefix`, and a hash of all of it,
    /// because a file name allows neither every character nor every length.
    static func outboxName(_ scope: String) -> String {
        let shown = scope.prefix(64).map {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "." || $0 == "-") ? $0 : "_"
        }
        return "outbox-\(String(shown))-\(Hex.encode(SHA256.hash(scope.utf8).prefix(8))).db"
    }
}
