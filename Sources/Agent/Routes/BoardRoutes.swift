import Board
import Groundwork
import LocalAPI

/// Sensors, button and LED.
extension Agent {
    nonisolated func addBoardRoutes(to router: inout Router) {
        router.on("GET", "/v1/board", needs: .read, .init("The board's definition, and which of its parts are there")) { _ in
            let findings = await BoardCheck.run(self.board.definition, wallClock: { [time = self.time] in time.now })
            return .json([
                "name": .string(self.board.definition.name), "title": .string(self.board.definition.title),
                "model": self.board.model.map(JSON.string) ?? .null,
                "directories": .array(self.configuration.board.directories.map(JSON.string)), "parts": .array(findings.map(\.json)),
            ])
        }
        router.on("GET", "/v1/sensors", needs: .read, .init("The newest reading of each sensor")) { _ in
            .json(["readings": .array(await self.board.poller.latest().map(\.json))])
        }
        router.on("GET", "/v1/sensors/stream", needs: .read, .init(
            "Readings as they are sent, as an event stream", streams: true)
        ) { _ in
            .events(self.board.poller.samples.subscribe().map { set in
                LocalEvent(name: "readings", data: ["readings": .array(set.readings.map(\.json))])
            })
        }
        router.on("POST", "/v1/board/button", needs: .operate, .init(
            "Press or release the simulated button", body: ["pressed": "boolean"])
        ) { request in
            guard let line = self.board.button?.simulated else { throw AgentError.noSuchPart("simulated button") }
            let pressed = try RequestBody(request.body).bool("pressed", default: true)
            line.set(active: pressed)
            return .json(["pressed": .bool(pressed)])
        }
    }
}

extension BoardCheck {
    /// The finding for programs and for `latchkey board check`.
    public var json: JSON {
        var members: [String: JSON] = switch part {
        case .button: ["part": "button"]
        case .led: ["part": "led"]
        case .sensor(let name): ["part": .string(name)]
        }
        switch finding {
        case .line: members["verdict"] = "present"
        case .simulated: members["verdict"] = "simulated"
        case .reading(let reading): members.merge(["verdict": "present", "reading": reading.json]) { _, new in new }
        case .notFitted: members["verdict"] = "not-fitted"
        case .fault(let error): members.merge(["verdict": "fault", "error": .object(error.explanation)]) { _, new in new }
        }
        return .object(members)
    }
}
