import AgentCore
import FoundationEssentials
import Groundwork
import LocalAPI
import Messaging

/// Whose connection messages go by.
package enum Speaker: Sendable, CaseIterable {
    case board
    /// The logged-in user.
    case user

    /// What the paths of its routes begin with.
    package var path: String { self == .board ? "/v1" : "/v1/user" }

    /// The right that it takes. To speak as a user is to act in that person's name.
    package func needs(_ permission: Permission) -> Permission { self == .board ? permission : .operate }

    package var suffix: String { self == .board ? "" : " of the logged-in user, at that user's connection" }
    /// What has a message when it is accepted.
    package var keeper: String {
        self == .board
            ? "the broker or the disk has it, or memory if outbox.durable is false" : "the broker has it"
    }
    /// What topics are below of.
    package var own: String { self == .board ? "the device's own" : "the user's own" }
}

/// Publishing and receiving.
extension MessagesFeature {
    package func addMessageRoutes(to router: inout Router) {
        for speaker in Speaker.allCases { addMessageRoutes(of: speaker, to: &router) }
    }

    private func addMessageRoutes(of speaker: Speaker, to router: inout Router) {
        router.on(
            "POST", "\(speaker.path)/messages", needs: speaker.needs(.publish),
            .init(
                "Publish a message\(speaker.suffix); when the answer comes, \(speaker.keeper)",
                body: [
                    "topic": .string("topic below \(speaker.own), unless raw is true"),
                    "payload": .string("the message"),
                    "encoding": .payloadEncoding, "qos": .quality,
                    "retain": .boolean("whether the broker keeps it for later subscribers"),
                    "raw": .boolean("the topic is a whole topic"),
                ], required: ["topic", "payload"], status: 202, answer: .accepted)
        ) { request in
            let body = RequestBody(request)
            let brokerSession = try await self.broker.brokerSession(of: speaker)
            let topic = try body.string("topic")
            return .json(
                try await brokerSession.accept(
                    OutgoingMessage(
                        topic: try body.bool("raw", default: false) ? Topic(topic) : brokerSession.topics.custom(topic),
                        payload: try body.payload("payload"),
                        qos: QoS(requested: Int(try body.integer("qos", in: 0...2, default: 1))) ?? .atLeastOnce,
                        retain: try body.bool("retain", default: false), publisher: request.publisher),
                    of: request), status: 202)
        }
        router.on(
            "POST", "\(speaker.path)/messages/lines", needs: speaker.needs(.publish),
            .init(
                "Publish each line as a message\(speaker.suffix), all or none; when the answer comes, \(speaker.keeper)",
                query: [
                    "topic": .string("topic below \(speaker.own), unless raw is true"), "qos": .quality,
                    "retain": .boolean("whether the broker keeps it for later subscribers"),
                    "raw": .boolean("the topic is a whole topic"),
                ], required: ["topic"],
                text: "at most \(MessageLines.limit) lines", status: 202,
                answer: Self.acceptedLines.schema())
        ) { request in
            let brokerSession = try await self.broker.brokerSession(of: speaker)
            guard let name = request.query["topic"] else {
                throw AgentError.badRequest(member: "topic", fault: "is missing")
            }
            let topic =
                try request.choice("raw", of: MessageLines.flags, default: false)
                ? Topic(name) : brokerSession.topics.custom(name)
            let qos = try request.choice("qos", of: MessageLines.qualities, default: .atLeastOnce)
            let retain = try request.choice("retain", of: MessageLines.flags, default: false)
            let messages = try MessageLines.split(request.body).map {
                OutgoingMessage(topic: topic, payload: $0, qos: qos, retain: retain, publisher: request.publisher)
            }
            try brokerSession.checkReserved(topic, for: request)
            return .json(Self.acceptedLines.json(try await brokerSession.accept(messages)), status: 202)
        }
        router.on(
            "GET", "\(speaker.path)/messages", needs: speaker.needs(.read),
            .init(
                "Messages\(speaker.suffix) as they arrive, as an event stream",
                query: [
                    "filter": .string(
                        """
                        topic filter below \(speaker.own), unless raw is true; by default everything but the agent's \
                        telemetry and status
                        """),
                    "qos": .quality, "raw": .boolean("the filter matches whole topics"),
                ],
                events: Schema.messageEvents, hasFrames: true)
        ) { request in
            let brokerSession = try await self.broker.brokerSession(of: speaker)
            // A subscriber to everything wants messages from others, not those that the agent itself publishes below
            // the same topics.
            let own = request.query["filter"] == nil ? brokerSession.ownTopics : []
            let filter = request.query["filter"] ?? "#"
            // The connection may have begun with this request.
            if speaker == .user { await brokerSession.messenger.settle() }
            let subscription = try await brokerSession.messenger.subscribe(
                try request.choice("raw", of: MessageLines.flags, default: false)
                    ? TopicFilter(filter) : brokerSession.filter(filter),
                qos: try request.choice("qos", of: MessageLines.qualities, default: .atLeastOnce))
            try brokerSession.subscriptions.add(subscription)
            let encoder = brokerSession.subscriptions.encoder(for: brokerSession.topics)
            return .stream {
                try await Deliveries(
                    subscription: subscription, leavingOut: own, encoder: encoder,
                    brokerSession: brokerSession.subscriptions
                ).write(to: $0)
            }
        }
    }

    /// By the numbers of the messages.
    private static let acceptedLines: Answer<[Int64]> = [
        "accepted": .of("how many") { $0.count },
        "first": .of("number of the first message, if there is one; the others follow") { $0.first },
    ]
}

extension BrokerSession {
    /// - Throws: ``AgentError/topicReserved(_:)`` if a caller other than an owner would speak for the agent, by any
    ///   route or spelling: the final topic counts.
    package func checkReserved(_ topic: Topic, for request: LocalRequest) throws {
        guard !request.isOwner, ownTopics.contains(topic.name) else { return }
        throw AgentError.topicReserved(topic.name)
    }

    fileprivate func accept(_ message: OutgoingMessage, of request: LocalRequest) async throws -> JSON {
        try checkReserved(message.topic, for: request)
        return ["id": .integer(try await accept([message])[0]), "topic": .string(message.topic.name)]
    }
}

extension LocalRequest {
    /// The user whose share of the outbox a message takes; owners have no limit.
    package var publisher: UInt32? { isOwner ? nil : peer.uid }
}

extension Schema {
    /// The events of a stream of messages.
    package static var messageEvents: [String: Schema] {
        [
            "subscribed": .object(all: [
                "filter": .string("the filter that the broker has: no message sent from now on is missed")
            ]),
            "message": .message,
            "lagged": .object(all: [
                "count": .integer("number of messages that were left out"), "message": .string("for people"),
            ]
            ),
        ]
    }

    package static var payloadEncoding: Schema {
        .string("encoding of the payload; text by default", choices: ["text", "base64"])
    }
    package static var quality: Schema {
        .integer("quality of service; 1 by default; 2 is treated as 1", in: 0...2)
    }

    fileprivate static var message: Schema {
        .named(
            "Message", .object(messageMembers, required: requiredOfMessage, "With its content in text or in payload"))
    }

    package static var requiredOfMessage: Set<String> { ["topic", "bytes", "qos", "retained", "receivedAt"] }

    package static var messageMembers: [String: Schema] {
        [
            "topic": .string("the whole topic"),
            "ownTopic": .string("the rest of the topic, if it is below the device's or the user's own topics"),
            "payload": .base64("the message, if it is not UTF-8"), "bytes": .integer("length of the message"),
            "text": .string("the message, if it is UTF-8"), "qos": .integer("quality of service", in: 0...1),
            "retained": .boolean("whether the broker had kept it for later subscribers"),
            "receivedAt": .time("when it arrived"),
            "envelope": Envelope.schema("The envelope of the message; any client can write one"),
        ]
    }
}
