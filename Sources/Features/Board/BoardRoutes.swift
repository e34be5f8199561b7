import AgentCore
import Board
import Groundwork
import LocalAPI

/// Sensors, button and LED.
extension BoardFeature {
    func addBoardRoutes(to router: inout Router) {
        router.on(
            "GET", "/v1/board", needs: .read,
            .init(
                "The board's definition, and which of its parts are present",
                answer: .object(all: [
                    "name": .string("name of the definition"), "title": .string("its title"),
                    "model": .string("model in the device tree; null if there is none").orNull,
                    "directories": .array(of: .string("path"), "folders that are searched for definitions"),
                    "parts": .array(of: .part, "button, LED and sensors"),
                ]))
        ) { _ in
            let findings = await BoardCheck.run(
                self.host.board.definition, on: self.host.board.machine,
                wallClock: { [time = self.host.time] in time.now })
            return .json([
                "name": .string(self.host.board.definition.name), "title": .string(self.host.board.definition.title),
                "model": self.host.board.model.map(JSON.string) ?? .null,
                "directories": .array(self.host.settings.board.directories.map(JSON.string)),
                "parts": .array(findings.map(\.json)),
            ])
        }
        router.on("GET", "/v1/sensors", needs: .read, .init("The newest reading of each sensor", answer: .readings)) {
            _ in
            .json(["readings": .array(await self.host.board.latest().map(\.json))])
        }
        router.on(
            "GET", "/v1/sensors/stream", needs: .read,
            .init(
                "Readings as they are sent, as an event stream", events: ["readings": .readings])
        ) { _ in
            .events(
                self.host.board.poller.samples.subscribe().map { set in
                    LocalEvent(name: "readings", data: ["readings": .array(set.readings.map(\.json))])
                })
        }
        router.on(
            "POST", "/v1/board/button", needs: .operate,
            .init(
                "Press or release the simulated button",
                body: [
                    "pressed": .boolean("true by default; cannot be given together with milliseconds"),
                    "milliseconds": .integer(
                        "duration of the press; it ends by itself", in: Self.pressMilliseconds),
                ], answer: .object(all: ["pressed": .boolean("the present state")]))
        ) { request in
            guard let line = self.host.board.button?.simulated else { throw AgentError.noSuchPart("simulated button") }
            let body = RequestBody(request)
            let pressed = try body.optionalBool("pressed")
            guard let length = try body.optionalInteger("milliseconds", in: Self.pressMilliseconds) else {
                line.set(active: pressed ?? true)
                return .json(["pressed": .bool(pressed ?? true)])
            }
            guard pressed == nil else {
                throw AgentError.badRequest(member: "pressed", fault: "cannot be given together with milliseconds")
            }
            line.press(for: .milliseconds(length))
            return .json(["pressed": true])
        }
    }

    /// The allowed duration of a press that ends by itself.
    private static let pressMilliseconds: ClosedRange<Int64> = 1...60_000
}

extension Schema {
    fileprivate static var part: Schema {
        .named(
            "Part",
            .object(
                [
                    "part": .string("button, led, or the name of a sensor"),
                    "verdict": .string("the finding", choices: ["present", "simulated", "not-fitted", "fault"]),
                    "reading": .reading, "error": .problem,
                ], required: ["part", "verdict"]))
    }
}

extension BoardCheck {
    /// The finding for programs and for `latchkey board check`.
    package var json: JSON {
        var members: [String: JSON] =
            switch part {
            case .button: ["part": "button"]
            case .led: ["part": "led"]
            case .sensor(let name): ["part": .string(name)]
            }
        switch finding {
        case .line: members["verdict"] = "present"
        case .simulated: members["verdict"] = "simulated"
        case .reading(let reading): members.merge(["verdict": "present", "reading": reading.json]) { _, new in new }
        case .notFitted: members["verdict"] = "not-fitted"
        case .fault(let error):
            members.merge(["verdict": "fault", "error": .object(error.explanation)]) { _, new in new }
        }
        return .object(members)
    }
}
