import AgentCore
import FoundationEssentials
import Groundwork
import Messaging

/// What the agent asks the runner of actions for: one line of JSON, then the payload.
///
/// It has the name of an action, not a command: what may run is in the settings, which the runner reads itself.
package struct ActionRequest: Sendable, Equatable {
    /// The longest line, in bytes: a topic has 64 KiB at most, and JSON may write six for one.
    package static let headLimit = 1 << 20
    /// The largest payload, in bytes.
    package static let payloadLimit = 4 << 20

    package var action: String
    /// The facts about the message, by the names of the environment variables that carry them.
    package var variables: [String: String]
    /// Length of the payload that follows.
    package var bytes: Int

    /// The variables that a command can get from a message; a message can set no others.
    package static let names: Set = [
        "LATCHKEY_MESSAGE_ID", "LATCHKEY_ATTEMPT", "LATCHKEY_RECEIVED_AT", "LATCHKEY_TOPIC", "LATCHKEY_OWN_TOPIC",
        "LATCHKEY_SENDER_ID", "LATCHKEY_SENDER_TYPE", "LATCHKEY_SENDER_NAME", "LATCHKEY_SENT_AT",
        "LATCHKEY_CONTENT_TYPE",
    ]
    /// The longest value, in characters.
    private static let valueLimit = 65_536

    /// - Parameter content: of the envelope, where there is one.
    package init(_ kept: KeptMessage, attempt: Int, of action: String, topics: TopicNamespace, content: [UInt8]) {
        self.action = action
        bytes = content.count
        let (message, envelope) = (kept.message, kept.message.envelope)
        let found: [String: String?] = [
            "LATCHKEY_MESSAGE_ID": "\(kept.id)", "LATCHKEY_ATTEMPT": "\(attempt)",
            "LATCHKEY_RECEIVED_AT": message.receivedAt.formatted(.iso8601), "LATCHKEY_TOPIC": message.topic,
            "LATCHKEY_OWN_TOPIC": topics.shortened(message.topic), "LATCHKEY_SENDER_ID": envelope?.senderID,
            "LATCHKEY_SENDER_TYPE": envelope?.senderType, "LATCHKEY_SENDER_NAME": envelope?.displayName,
            "LATCHKEY_SENT_AT": envelope?.sentAt?.formatted(.iso8601), "LATCHKEY_CONTENT_TYPE": envelope?.contentType,
        ]
        variables = found.compactMapValues { $0.map(Self.clean) }
    }

    /// Control characters, NUL among them, become blanks.
    private static func clean(_ text: String) -> String { DisplayText.oneLine(text, limit: valueLimit) }

    /// The line, with its end.
    package var head: [UInt8] {
        let json: JSON = [
            "action": .string(action), "bytes": .integer(Int64(bytes)),
            "variables": .object(variables.mapValues(JSON.string)),
        ]
        return json.bytes + [UInt8(ascii: "\n")]
    }

    /// - Parameter line: without its end.
    /// - Returns: `nil` if the line is not a request.
    package init?(parsing line: [UInt8]) {
        guard let json = try? JSON(parsing: line, limit: Self.headLimit), let action = json["action"]?.string,
            let bytes = json["bytes"]?.integer, (0...Int64(Self.payloadLimit)).contains(bytes),
            let given = json["variables"]?.object, Self.names.isSuperset(of: given.keys)
        else { return nil }
        self.action = action
        self.bytes = Int(bytes)
        variables = given.compactMapValues { $0.string.map(Self.clean) }
        guard variables.count == given.count else { return nil }
    }
}
