import AgentCore
import Groundwork
import LocalAPI

/// Schemas of the connection to a broker, and of what is sent there.
extension Schema {
    package static var broker: Schema {
        object(
            [
                "state": .string(
                    "state of the connection", choices: ["stopped", "connecting", "connected", "waiting"]),
                "address": .string("host:port"), "since": .time("since when it is in this state"),
                "sent": .integer("messages since the agent started"),
                "acknowledged": .integer("messages since the agent started"),
                "received": .integer("messages since the agent started"), "lastError": problem,
                "errorReports": .object(
                    [
                        "count": .integer("reports since the agent started"), "topic": .string("topic of the last"),
                        "text": .string("text of the last, as the broker worded it"),
                        "time": .time("when the last came"),
                    ], required: ["count", "topic", "text", "time"],
                    "What the broker reported at topics whose last level is error"),
            ], required: ["state", "address", "since", "sent", "acknowledged", "received"])
    }

    package static var outbox: Schema {
        any(of: [
            .object(
                [
                    "depth": .integer("waiting messages"), "bytes": .integer("their size"),
                    "unwritten": .integer(
                        "those in memory only; a power cut or a killed agent loses the board's own readings"),
                    "flushSeconds": .integer("how long readings stay there at most"),
                    "accepted": .integer("messages so far"), "delivered": .integer("messages so far"),
                    "dropped": .integer("messages so far"),
                    "oldestAge": .integer("age of the oldest waiting message, in seconds"),
                    "setAside": .string("file name of a damaged outbox"),
                    "rescued": .integer("messages that were read from it"),
                    "deadLetters": .integer(
                        "messages that are no longer sent, because the broker ended the connection on each"),
                ],
                required: [
                    "depth", "bytes", "unwritten", "flushSeconds", "accepted", "delivered", "dropped", "deadLetters",
                ]),
            .object(["error": problem], required: ["error"]),
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
