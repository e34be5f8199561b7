import AgentCore
import Groundwork
import LocalAPI
import Messaging

/// Schemas of what is sent to a broker.
extension Schema {
    package static var outbox: Schema {
        any(of: [
            OutboxStatus.answer.schema(),
            .object(all: ["error": problem]),
        ])
    }

    package static var accepted: Schema {
        named(
            "Accepted",
            .object(
                [
                    "id": .integer("number of the message, or of the first"),
                    "topic": .string("the whole topic, or the first"),
                    "count": .integer("number of messages, if there are several"),
                ], required: ["id", "topic"]))
    }
}
