import ArgumentParser
import Board
import Groundwork

struct Report: RouteCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Report a reading from a program, like that of a sensor.",
        discussion: """
            It is shown by 'board watch', on the console and in the metrics, and published with the board's readings. \
            For sensors that the kernel has no driver for: call this from a timer of systemd, or from cron.

              $ latchkey board report well.level 2.31 --unit m
              $ latchkey board report well.level --missing --unit m
            """)

    @Argument(help: "Its name: \(SensorName.rule).") var name: String
    @Argument(help: "The value, in the unit.") var value: Double?
    @Option(help: "A SenML unit, such as Cel, %RH, lx or m.") var unit = SenMLUnit.count.rawValue
    @Flag(help: "The sensor did not respond; there is no value.") var missing = false
    @Flag(help: "The value may be wrong.") var uncertain = false
    @OptionGroup var options: ClientOptions

    func validate() throws {
        guard (value == nil) == missing else { throw ValidationError("give a value, or --missing") }
        guard !missing || !uncertain else { throw ValidationError("--uncertain requires a value") }
    }

    func request() -> RouteRequest {
        var reading: [String: JSON] = [
            "name": .string(name), "value": value.map(JSON.number) ?? .null, "unit": .string(unit),
        ]
        if uncertain { reading["quality"] = "uncertain" }
        return .post("readings", ["readings": [.object(reading)]])
    }

    func text(of answer: JSON) -> String {
        answer["published"]?.bool == true ? "accepted" : "accepted, and not published: see latchkey status"
    }
}
