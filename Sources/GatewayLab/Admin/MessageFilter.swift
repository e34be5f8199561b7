/// Which messages the admin page shows: readings come every few seconds and bury the others.
struct MessageFilter: Sendable {
    /// Whether readings of sensors are shown.
    var telemetry = true
    /// In the topic, the sender or the payload, in any case of letters; `nil` is every message.
    var text: String?

    func passes(_ message: LabMessage) -> Bool {
        guard telemetry || !message.topic.hasSuffix("/custom/telemetry") else { return false }
        guard let text = text?.lowercased() else { return true }
        return [message.topic, message.sender, String(decoding: message.payload, as: UTF8.self)]
            .contains { $0.lowercased().contains(text) }
    }
}
