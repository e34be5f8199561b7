import Groundwork

/// What Home Assistant was told.
package enum HomeAssistantEvent: ReportedEvent, Equatable {
    /// Another set of entities was announced.
    case announced(entities: Int, leftOut: Int, topic: String)
    /// What was announced under these topics was withdrawn.
    case withdrawn(topics: [String])
    /// An announcement could not be published.
    case failed(reason: String)

    package static let meanings = [
        "homeassistant.announced": "the board announced its entities to Home Assistant",
        "homeassistant.withdrawn": "the board withdrew what it had announced to Home Assistant",
        "homeassistant.failed": "the board could not announce itself to Home Assistant; it does when it connects again",
    ]

    package static var details: [String: Schema] {
        [
            "entities": .integer("how many entities were announced"),
            "leftOut": .integer("how many had no room in the message"),
            "topic": .string("topic of the announcement"),
            "topics": .array(of: .string("topic"), "topics whose kept messages were cleared"),
        ]
    }

    package var report: EventReport {
        switch self {
        case .announced(let entities, let leftOut, let topic):
            EventReport(
                "homeassistant.announced", .notable,
                leftOut == 0
                    ? "announced \(entities) entities to Home Assistant"
                    : "announced \(entities) entities to Home Assistant; \(leftOut) more had no room in the message",
                [
                    "entities": .integer(Int64(entities)), "leftOut": .integer(Int64(leftOut)),
                    "topic": .string(topic),
                ])
        case .withdrawn(let topics):
            EventReport(
                "homeassistant.withdrawn", .notable, "withdrew the announcement to Home Assistant",
                ["topics": .array(topics.map(JSON.string))])
        case .failed(let reason):
            EventReport("homeassistant.failed", .notable, "cannot announce the board to Home Assistant: \(reason)")
        }
    }
}
