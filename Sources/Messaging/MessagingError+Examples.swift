import Cryptography
import Groundwork
import Storage

/// One of each, for the catalog of errors.
extension MessagingError {
    public static var examples: [MessagingError] {
        let broker = BrokerAddress(host: "HOST")
        let others: [MessagingError] = [
            .invalidTopic("TOPIC", .wildcard), .invalidFilter("FILTER", .misplacedWildcard),
            .invalidReceiver("ID", .severalLevels), .invalidContentType("TYPE"), .notConfirmed, .userRequired,
            .userUnusable(name: "NAME"), .userUnusable(name: nil),
            .userConnectionOff,
            .payloadTooLarge(bytes: 2_000_000, limit: 262_144), .emptyPayload, .outboxFull(limitBytes: 67_108_864),
            .outboxShareFull(limitBytes: 33_554_432), .noSuchDeadLetter(7), .outboxUnusable(.readOnly(path: "PATH")),
            .outboxClosed(path: "PATH"), .noSuchInbox("NAME"), .inboxExists("NAME"),
            .messageNotThere(99, inbox: "NAME", newest: 17), .messageNotThere(99, inbox: "NAME", newest: nil),
            .tooManyInboxes(limit: 32), .tooManyFormerInboxes(limit: 256), .inboxUnusable(.readOnly(path: "PATH")),
            .credentialsUnavailable(Explanation("CAUSE", .unreachable, "REASON")),
            .cannotConnect(broker, reason: "REASON"), .tlsRefused(broker, .pinMismatch),
            .tlsFailed(broker, reason: "REASON"),
            .proxyUnusable(reason: "REASON"), .proxyFailed(proxy: "PROXY", broker, reason: "REASON"),
            .proxyRefused(proxy: "PROXY", broker, status: 403), .webSocketRefused(broker, status: 404),
            .webSocketFailed(broker, reason: "REASON"),
            .connectTimeout(broker, .seconds(30)), .refused(broker, .badCredentials),
            .connectionLost(broker, reason: "REASON"), .rival(broker, count: 5), .greetingRefused(broker, count: 5),
            .alreadyRunning,
        ]
        let refused = ["FILTER"].compactMap { try? TopicFilter($0) }.map(MessagingError.subscriptionRefused)
        return others + refused
    }
}
