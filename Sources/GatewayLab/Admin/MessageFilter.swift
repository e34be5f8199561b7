/// Which messages the admin page shows: readings arrive every few seconds and would crowd out the others.
struct MessageFilter: Sendable {
    /// Whether readings of sensors are shown.
    var telemetry = true
    /// Searched for in the topic, the sender and the payload, ignoring case; `nil` matches every message.
    var text: String?

    func passes(_ message: LabMessage) -> Bool {
        guard telemetry || !message.topic.hasSuffix("/custom/telemetry") else { return false }
        guard let text = text?.lowercased() else { return true }
        return [message.topic, message.sender, String(decoding: message.payload, as: UTF8.self)]
            .contains { $0.lowercased().contains(text) }
    }
}
