import AgentCore
import AgentMessages
import Groundwork
import LocalAPI
import Messaging

/// Publishing to and receiving from the brokers that the settings name (MAG 9.4).
extension BrokersFeature {
    package func addBrokerRoutes(to router: inout Router) {
        let path = ["broker": Schema.string("name of an account at a broker")]
        router.on(
            "GET", "/v1/brokers", needs: .read,
            .init(
                "The brokers at which this board has accounts, and the state of their connections",
                answer: .object(all: [
                    "brokers": .array(
                        of: .named("NamedBroker", NamedBroker.answer.schema()), "by their names")
                ]))
        ) { _ in
            var brokers: [JSON] = []
            for broker in self.all { brokers.append(await self.kind.broker(broker)) }
            return .json(["brokers": .array(brokers)])
        }
        router.on(
            "POST", "/v1/brokers/{broker}/messages", needs: .publish,
            .init(
                "Publish a message to a broker; when the answer comes, that broker has it, or the board's outbox",
                path: path,
                body: [
                    "topic": .string("the whole topic"), "payload": .string("the message"),
                    "encoding": .payloadEncoding, "qos": .quality,
                    "retain": .boolean("whether the broker keeps it for later subscribers"),
                ], required: ["topic", "payload"], status: 202, answer: .accepted)
        ) { request in
            let body = RequestBody(request)
            let message = OutgoingMessage(
                topic: try Topic(try body.string("topic")), payload: try body.payload("payload"),
                qos: QoS(requested: Int(try body.integer("qos", in: 0...2, default: 1))) ?? .atLeastOnce,
                retain: try body.bool("retain", default: false), publisher: request.publisher)
            let use = try await self.use(of: request)
            let number = try await use.connection.outbox.accept(message)
            return .json(["id": .integer(number), "topic": .string(message.topic.name)], status: 202)
        }
        router.on(
            "POST", "/v1/brokers/{broker}/messages/lines", needs: .publish,
            .init(
                "Publish each line as a message to a broker; when the answer comes, it has them, or the board's outbox",
                path: path,
                query: [
                    "topic": .string("the whole topic"), "qos": .quality,
                    "retain": .boolean("whether the broker keeps it for later subscribers"),
                ], required: ["topic"], text: "at most \(MessageLines.limit) lines", status: 202,
                answer: .object(all: ["accepted": .integer("how many")]))
        ) { request in
            guard let name = request.query["topic"] else {
                throw AgentError.badRequest(member: "topic", fault: "is missing")
            }
            let topic = try Topic(name)
            let qos = try request.choice("qos", of: MessageLines.qualities, default: .atLeastOnce)
            let retain = try request.choice("retain", of: MessageLines.flags, default: false)
            let messages = try MessageLines.split(request.body).map {
                OutgoingMessage(topic: topic, payload: $0, qos: qos, retain: retain, publisher: request.publisher)
            }
            let use = try await self.use(of: request)
            return .json(
                ["accepted": .integer(Int64(try await use.connection.outbox.accept(messages).count))], status: 202)
        }
        router.on(
            "GET", "/v1/brokers/{broker}/messages", needs: .read,
            .init(
                "Messages of a broker as they arrive, as an event stream", path: path,
                query: [
                    "filter": .string("topic filter; all topics without it"), "qos": .quality,
                ], events: Schema.messageEvents, hasFrames: true)
        ) { request in
            let filter = try TopicFilter(request.query["filter"] ?? "#")
            let qos = try request.choice("qos", of: MessageLines.qualities, default: .atLeastOnce)
            let use = try await self.use(of: request)
            let connection = use.connection
            let subscription = try await connection.messenger.subscribe(filter, qos: qos)
            try connection.subscriptions.add(subscription)
            let encoder = connection.subscriptions.encoder(for: nil)
            return .stream {
                try await Deliveries(
                    subscription: subscription, encoder: encoder, brokerSession: connection.subscriptions
                ).write(to: $0)
                // The connection is kept while a program reads.
                withExtendedLifetime(use) {}
            }
        }
        router.on(
            "POST", "/v1/brokers/{broker}/disconnect", needs: .operate,
            .init(
                "End the connection of programs to a broker and all their subscriptions there; the next use connects again",
                path: path,
                answer: .object(all: ["disconnected": .boolean("whether there was a connection")]))
        ) { request in
            .json(["disconnected": .bool(try await self.broker(of: request).disconnect())])
        }
    }

    /// The connection for a request: the board's own where its messages go to that broker, as two with one client
    /// identifier would end each other.
    private func use(of request: LocalRequest) async throws -> NamedBroker.Use {
        let broker = try broker(of: request)
        guard let name = AccountName(broker.settings.name), kind.keeper(of: name) != nil else {
            return try await broker.use()
        }
        return NamedBroker.Use(try await board.activeBrokerSession())
    }

    private func broker(of request: LocalRequest) throws(BrokerError) -> NamedBroker {
        let name = request.parameters["broker"] ?? ""
        guard let broker = AccountName(name).flatMap({ kind.broker($0) }) else {
            throw .unknown(DisplayText.oneLine(name, limit: 64))
        }
        return broker
    }
}

extension NamedBroker {
    static let answer: Answer<(settings: BrokerAccount, status: MessengerStatus?, error: MessagingError?)> = [
        "name": .of("name of the account") { $0.settings.name },
        "address": .of("host:port") { $0.settings.address.description },
        "tls": .of("whether the broker must prove its identity and the connection is encrypted") {
            $0.settings.tls != nil
        },
        "login": .schema(.choice("how the board logs in", of: BrokerAccount.LoginMethod.self)) {
            $0.settings.loginMethod.rawValue
        },
        "clientID": .of("MQTT client identifier; empty: another one for each connection") { $0.settings.clientID },
        "topics": .of("the board's topics, where its messages go there") { $0.settings.topics },
        "inSettings": .of("whether the settings have the account, and not the sealed store") { $0.settings.isPreset },
        "state": .of("state of the connection; stopped while it is not used") { $0.status?.state ?? .stopped },
        "since": .of("since when it is connected, if it is") { $0.status?.since },
        "sent": .of("messages over this connection") { $0.status?.sent },
        "acknowledged": .of("messages over this connection") { $0.status?.acknowledged },
        "received": .of("messages over this connection") { $0.status?.received },
        "lastError": .schema(.problem) { ($0.error ?? $0.status?.lastError)?.explanation },
    ]
}

extension BrokerAccount {
    enum LoginMethod: String, CaseIterable {
        case none
        case password
        case certificate
        case token
    }

    var loginMethod: LoginMethod {
        switch secret {
        case .token: .token
        case .file, .sealed: .password
        case .none: identity == nil ? .none : .certificate
        }
    }
}
