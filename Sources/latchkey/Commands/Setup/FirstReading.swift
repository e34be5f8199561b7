import Groundwork
import LocalAPI

/// Waits until the broker passes something of this board back to it: the proof that messages arrive.
struct FirstReading {
    struct Arrival {
        let topic: String
        let content: String

        var json: JSON { ["topic": .string(topic), "text": .string(content)] }

        var text: String {
            let out = Terminal.standardOutput
            return "\(out.green("It works.")) This came back from the broker:\n  "
                + out.shown("\(topic)  \(content.prefix(200))")
                + "\nNext: latchkey status; latchkey publish door/state open"
        }
    }

    let client: LocalClient

    /// How long to wait for a reading, before a message of this command is enough.
    private static let patience = Duration.seconds(8)

    /// - Throws: `LocalAPIError`; ``SetupError/nothingArrives(seconds:)``
    func wait() async throws -> Arrival {
        let reader = Task { try await read() }
        let limit = Task {
            try await Task.sleep(for: Self.patience)
            reader.cancel()
        }
        defer { limit.cancel() }
        return try await ProgressLine.show("waiting for the first reading") {
            guard let arrival = try await reader.value else {
                throw SetupError.nothingArrives(seconds: Int(Self.patience.components.seconds))
            }
            return arrival
        }
    }

    /// - Returns: a reading; in a canceled task the message of this command, if it came.
    private func read() async throws -> Arrival? {
        // By its filter everything of the board, and what the agent itself publishes.
        let stream = client.records("/v1/messages?filter=%23", as: .lines)
        try await stream.open()
        _ = try await client.post("/v1/messages", ["topic": "setup", "payload": "hello"])
        var own: Arrival?
        while let batch = try await stream.next() {
            for bytes in batch {
                guard case .message(let text) = try LocalRecord(bytes, in: .lines),
                    let message = try? JSON(parsing: text)
                else { continue }
                let arrival = Arrival(topic: message["topic"]?.string ?? "", content: message["text"]?.string ?? "")
                switch message["ownTopic"]?.string {
                case "setup": own = arrival
                case _ where arrival.content.hasPrefix("{\"readings\""): return arrival
                default: break
                }
            }
        }
        return own
    }
}
