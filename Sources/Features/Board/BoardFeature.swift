import AgentCore
import AgentMessages
import Board
import Connectivity
import Groundwork
import LocalAPI
import Settings

/// The board's own parts: sensors and their telemetry, button and LED.
package struct BoardFeature: Feature {
    let host: Host
    let broker: BoardBroker

    package init(_ host: Host) {
        self.host = host
        broker = host.feature(MessagesFeature.self).broker
    }

    package static func compare(with machine: inout MachineComparison) {
        let key = "board.definition"
        do throws(BoardError) {
            for fault in try machine.configuration.board.read(on: machine.machine).faults {
                machine.note(key, fault.message, fix: fault.remedy ?? "fix or remove it")
            }
        } catch {
            let fix = error.remedy ?? "name another"
            // The settings do not ask for this definition by name.
            if machine.configuration.board.definition == "auto" {
                machine.note(key, error.message, fix: fix)
            } else {
                machine.fail(key, error.message, fix: fix)
            }
        }
    }

    package static func readSettings(from root: inout SettingsTable, into configuration: inout AgentConfiguration) {
        root.table("board") { table in
            table.string("definition", &configuration.board.definition, .notEmpty)
            table.strings("directories", &configuration.board.directories)
            table.flag("health", &configuration.board.health)
        }
        root.table("telemetry") { table in
            table.flag("enabled", &configuration.telemetry.enabled)
            table.string("topic", &configuration.telemetry.topic, .topic)
            table.integer("qos", &configuration.telemetry.qos, in: 0...2)
            table.integer("monthly_bytes", &configuration.telemetry.monthlyBytes, in: 0...(1 << 50))
            table.strings("interfaces", &configuration.telemetry.interfaces)
        }
    }

    package func addRoutes(to router: inout Router) {
        addBoardRoutes(to: &router)
        addReadingRoutes(to: &router)
    }

    package static var checks: [any HealthCheck] { [SensorsCheck(), LinesCheck(), TelemetryBudgetCheck()] }

    package func examine(into state: inout AgentState) async throws {
        let board = host.board
        state.board.fault = board.isWithoutDefinition ? board.faults.first : nil
        state.board.sensorCount = board.definition.sensors.count
        state.board.failingSensors = await board.poller.failing()
        state.board.absentSensorCount = await board.poller.absentCount()
        state.board.traffic = trafficReport
        for check in await BoardCheck.run(
            board.definition, on: board.machine, wallClock: { [time = host.time] in time.now })
        {
            if case .sensor = check.part { continue }
            state.board.lineCount += 1
            switch check.finding {
            case .simulated: state.board.linesAreSimulated = true
            case .fault(let error): state.board.lineFaults.append(error)
            case .line, .reading, .notFitted: break
            }
        }
    }

    package func services() -> [any Service] {
        let changes = host.network.monitor.changes.subscribe()
        var services = [
            host.restarting("sensors") { try await self.pollSensors() },
            host.restarting("traffic") { try await self.countTraffic(changes) },
        ]
        if let led = host.board.led {
            services.append(host.restarting("LED") { try await led.run() })
            services.append(host.restarting("indication") { await self.indicate(on: led) })
        }
        return services
    }

    package static var statusMembers: [String: Schema] {
        [
            "board": .string("the title of the board's definition"),
            "sensors": .object(all: [
                "count": .integer("how many there are"),
                "failing": .array(of: .string("name"), "those that do not respond"),
                "unsent": .integer("telemetry messages since the start that no account could send"),
            ]),
            "traffic": TrafficReport.schema(),
        ]
    }

    package func status() async throws -> [String: JSON] {
        var members: [String: JSON] = [
            "board": .string(DisplayText.clean(host.board.definition.title)),
            "sensors": [
                "count": .integer(Int64(host.board.definition.sensors.count)),
                "failing": .array(await host.board.poller.failing().map { .string($0.sensor) }),
                "unsent": .integer(Int64(broker.unsentTelemetry)),
            ],
        ]
        members["traffic"] = trafficReport?.json
        return members
    }

    package func close() async { host.board.traffic.save() }

    package func warnings() async throws -> [String] { host.board.faults.map(\.message) }

    package static var errors: [any Explained.Type] { [BoardError.self] }

    package static var events: [any ReportedEvent.Type] { [ButtonEvent.self, SensorEvent.self] }
}
