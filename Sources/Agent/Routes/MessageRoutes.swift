import FoundationEssentials
import Groundwork
import LocalAPI
import Messaging

/// Publishing, receiving and sending.
extension Agent {
    nonisolated func addMessageRoutes(to router: inout Router) {
        router.on(
            "POST", "/v1/messages", needs: .publish,
            .init(
                "Publish a message; when the answer comes, the broker or the disk has it, or memory where outbox.durable is false",
                body: [
                    "topic": .string("below the device's own unless raw"), "payload": .string("the message"),
                    "encoding": Self.encodingSchema, "qos": Self.qualitySchema,
                    "retain": .boolean("whether the broker keeps it for who comes later"),
                    "raw": .boolean("the topic is a whole one"),
                ], required: ["topic", "payload"], status: 202, answer: .accepted)
        ) { request in
            let body = try RequestBody(request)
            let station = try await self.activeStation()
            let topic = try body.string("topic")
            return .json(
                try await self.accept(
                    OutgoingMessage(
                        topic: try body.bool("raw", default: false) ? Topic(topic) : station.topics.custom(topic),
                        payload: try body.payload("payload"),
                        qos: QoS(requested: Int(try body.integer("qos", in: 0...2, default: 1))) ?? .atLeastOnce,
                        retain: try body.bool("retain", default: false), publisher: request.publisher), at: station,
                    of: request), status: 202)
        }
        router.on(
            "POST", "/v1/messages/lines", needs: .publish,
            .init(
                "Publish each line as a message, all or none; when the answer comes, the broker or the disk has each, or memory as above",
                query: [
                    "topic": .string("below the device's own unless raw"), "qos": Self.qualitySchema,
                    "retain": .boolean("whether the broker keeps it for who comes later"),
                    "raw": .boolean("the topic is a whole one"),
                ], required: ["topic"],
                text: "at most \(MessageLines.limit) lines", status: 202,
                answer: .object(
                    [
                        "accepted": .integer("how many"),
                        "first": .integer("number of the first, where there is one; the others follow"),
                    ],
                    required: ["accepted"]))
        ) { request in
            let station = try await self.activeStation()
            guard let name = request.query["topic"] else {
                throw AgentError.badRequest(member: "topic", fault: "is missing")
            }
            let topic =
                try request.choice("raw", of: MessageLines.flags, default: false)
                ? Topic(name) : station.topics.custom(name)
            let qos = try request.choice("qos", of: MessageLines.qualities, default: .atLeastOnce)
            let retain = try request.choice("retain", of: MessageLines.flags, default: false)
            let messages = try MessageLines.split(request.body).map {
                OutgoingMessage(topic: topic, payload: $0, qos: qos, retain: retain, publisher: request.publisher)
            }
            try self.checkReserved(topic, at: station, for: request)
            let numbers = try await station.outbox.accept(messages)
            var answer: [String: JSON] = ["accepted": .integer(Int64(numbers.count))]
            answer["first"] = numbers.first.map { .integer($0) }
            return .json(.object(answer), status: 202)
        }
        router.on(
            "POST", "/v1/send", needs: .publish,
            .init(
                "Send an enveloped message to a device or a user",
                body: [
                    "user": .string("the receiver: this, or a device"),
                    "device": .string("the receiver: this, or a user"),
                    "topic": .string("below the receiver's own; messages unless given"),
                    "payload": .string("the message"),
                    "encoding": Self.encodingSchema, "contentType": .string("a MIME type; text/plain unless given"),
                ], required: ["payload"], status: 202, answer: .accepted)
        ) { request in
            let body = try RequestBody(request)
            let station = try await self.activeStation()
            let topic = try body.optionalString("topic") ?? "messages"
            let address: Topic
            switch (try body.optionalString("user"), try body.optionalString("device")) {
            case (let user?, nil): address = try station.topics.user(user, topic)
            case (nil, let device?): address = try station.topics.device(device, topic)
            default: throw AgentError.badRequest(member: "the receiver", fault: "has to be one: user or device")
            }
            let envelope = Envelope(
                from: station.device, .device, displayName: self.deviceName, sentAt: self.time.now,
                contentType: try body.optionalString("contentType") ?? "text/plain",
                payload: try body.payload("payload"))
            return .json(
                try await self.accept(
                    OutgoingMessage(
                        topic: address, payload: try envelope.encode(), publisher: request.publisher), at: station,
                    of: request), status: 202)
        }
        router.on(
            "GET", "/v1/messages", needs: .read,
            .init(
                "Messages as they arrive, as an event stream",
                query: [
                    "filter": .string(
                        """
                        topic filter below the device's own unless raw; without it everything but the agent's own telemetry and status
                        """),
                    "qos": Self.qualitySchema, "raw": .boolean("the filter is of whole topics"),
                ],
                events: [
                    "subscribed": .object(
                        ["filter": .string("as the broker has it: nothing sent from now on is missed")],
                        required: ["filter"]),
                    "message": .message,
                    "lagged": .object(
                        ["count": .integer("messages that were left out"), "message": .string("for people")],
                        required: ["count", "message"]),
                ], hasFrames: true)
        ) { request in
            let station = try await self.activeStation()
            // A subscriber to everything wants messages from others, not those that the agent itself publishes below
            // the same topics.
            let own = request.query["filter"] == nil ? try self.ownTopics(at: station) : []
            let filter = request.query["filter"] ?? "#"
            let subscription = try await station.messenger.subscribe(
                try request.choice("raw", of: MessageLines.flags, default: false)
                    ? TopicFilter(filter) : station.filter(filter),
                qos: try request.choice("qos", of: MessageLines.qualities, default: .atLeastOnce))
            try station.subscriptions.add(subscription)
            let encoder = station.subscriptions.encoder(for: station.topics)
            return .stream {
                try await Deliveries(subscription: subscription, leavingOut: own, encoder: encoder).write(to: $0)
            }
        }
    }

    private static var encodingSchema: Schema {
        .string("of the payload; text unless given", choices: ["text", "base64"])
    }
    private static var qualitySchema: Schema {
        .integer("quality of service; 1 unless given; 2 is taken as 1", in: 0...2)
    }

    private nonisolated func ownTopics(at station: Station) throws -> Set<String> {
        [
            try station.topics.custom(configuration.telemetry.topic).name,
            try station.topics.custom(configuration.broker.statusTopic).name,
        ]
    }

    /// - Throws: ``AgentError/topicReserved(_:)`` if a caller other than an owner would speak for the agent, by any
    ///   route or spelling: the final topic counts.
    private nonisolated func checkReserved(_ topic: Topic, at station: Station, for request: LocalRequest) throws {
        guard !request.isOwner, try ownTopics(at: station).contains(topic.name) else { return }
        throw AgentError.topicReserved(topic.name)
    }

    private func accept(_ message: OutgoingMessage, at station: Station, of request: LocalRequest) async throws -> JSON
    {
        try checkReserved(message.topic, at: station, for: request)
        return ["id": .integer(try await station.outbox.accept(message)), "topic": .string(message.topic.name)]
    }
}

extension LocalRequest {
    /// The user whose share of the outbox a message takes; owners have no limit.
    fileprivate var publisher: UInt32? { isOwner ? nil : peer.uid }
}

extension Schema {
    fileprivate static var message: Schema {
        .named(
            "Message",
            .object(
                [
                    "topic": .string("the whole topic"),
                    "ownTopic": .string("where it is below the device's own: what follows"),
                    "payload": .base64("the message, where it is not UTF-8"), "bytes": .integer("of the message"),
                    "text": .string("the message, where it is UTF-8"), "qos": .integer("quality of service", in: 0...1),
                    "retained": .boolean("whether the broker kept it for who comes later"),
                    "receivedAt": .time("when it arrived"),
                    "envelope": .object(
                        [
                            "contentType": .string("a MIME type"), "senderType": .string("the sender's own claim"),
                            "senderID": .string("the sender's own claim"),
                            "displayName": .string("the sender's own claim"),
                            "sentAt": .time("by the sender's clock"),
                        ], required: ["contentType", "senderType", "sentAt"],
                        "What came with the message; anybody can write one"),
                ], required: ["topic", "bytes", "qos", "retained", "receivedAt"],
                "With its content in text or in payload"))
    }
}
