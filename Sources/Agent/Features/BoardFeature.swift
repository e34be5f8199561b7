import Board
import Groundwork
import LocalAPI
import Settings

/// The board's own parts: sensors and their telemetry, button and LED.
struct BoardFeature: Feature {
    init(_ host: Host) {}

    static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("board") { table in
            table.string("definition", &configuration.board.definition, .notEmpty)
            table.strings("directories", &configuration.board.directories)
        }
        root.table("telemetry") { table in
            table.flag("enabled", &configuration.telemetry.enabled)
            table.string("topic", &configuration.telemetry.topic, .topic)
            table.integer("qos", &configuration.telemetry.qos, in: 0...2)
        }
    }

    func addRoutes(to router: inout Router, of agent: Agent) {
        agent.addBoardRoutes(to: &router)
        agent.addReadingRoutes(to: &router)
    }

    static var checks: [any HealthCheck] { [SensorsCheck(), LinesCheck()] }

    func examine(_ agent: Agent, into state: inout AgentState) async throws {
        let board = agent.board
        state.boardFault = board.isWithoutDefinition ? board.faults.first : nil
        state.sensorCount = board.definition.sensors.count
        state.failingSensors = await board.poller.failing()
        state.absentSensorCount = await board.poller.absentCount()
        for check in await BoardCheck.run(board.definition, wallClock: { [time = agent.time] in time.now }) {
            if case .sensor = check.part { continue }
            state.lineCount += 1
            switch check.finding {
            case .simulated: state.linesAreSimulated = true
            case .fault(let error): state.lineFaults.append(error)
            case .line, .reading, .notFitted: break
            }
        }
    }

    func services(of agent: Agent) -> [any Service] {
        var services = [agent.restarting("sensors") { try await SensorService(agent: agent).run() }]
        if let button = agent.board.button {
            services.append(
                agent.restarting("button") { try await ButtonService(button: button, agent: agent).run() })
        }
        if let led = agent.board.led {
            services.append(agent.restarting("LED") { try await led.run() })
            services.append(agent.restarting("indication") { await agent.indicate(on: led) })
        }
        return services
    }

    static var statusMembers: [String: Schema] {
        [
            "board": .string("the title of the board's definition"),
            "sensors": .object(
                [
                    "count": .integer("how many there are"),
                    "failing": .array(of: .string("name"), "those that do not answer"),
                    "unsent": .integer("telemetry messages since the start that no account could take"),
                ],
                required: ["count", "failing", "unsent"]),
        ]
    }

    func status(of agent: Agent) async throws -> [String: JSON] {
        [
            "board": .string(DisplayText.clean(agent.board.definition.title)),
            "sensors": [
                "count": .integer(Int64(agent.board.definition.sensors.count)),
                "failing": .array(await agent.board.poller.failing().map { .string($0.sensor) }),
                "unsent": .integer(Int64(await agent.unsentTelemetry)),
            ],
        ]
    }

    func warnings(of agent: Agent) async throws -> [String] { agent.board.faults.map(\.message) }

    static var events: [any ReportedEvent.Type] { [ButtonEvent.self, SensorEvent.self] }
}
