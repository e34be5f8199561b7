import Board
import Foundation
import Groundwork
import Testing

@Suite("Board check")
struct BoardCheckTests {
    @Test("a board check reports parts that are there, not fitted or faulty, each with a remedy")
    func findings() async throws {
        let tree = try FakeTree(["/proc/loadavg": "0.42 0.30 0.25 1/123 4567\n"])
        let definition = try BoardDefinition(
            toml: """
                title = "Test board"
                [button]
                chip = "pinctrl-rp1"
                line = 17
                [led]
                simulated = true
                [[sensor]]
                name = "load"
                source = "system"
                channel = "load"
                [[sensor]]
                name = "fan"
                source = "hwmon"
                device = "pwmfan"
                channel = "fan1"
                optional = true
                [[sensor]]
                name = "cpu"
                source = "thermal"
                device = "cpu-thermal"
                """, path: "test.toml")
        let time = Date(timeIntervalSince1970: 1_767_225_600)
        let checks = await BoardCheck.run(definition, on: tree.machine, wallClock: { time })
        #expect(
            checks.map(\.part) == [.button, .led, .sensor(name: "load"), .sensor(name: "fan"), .sensor(name: "cpu")])
        #expect(
            checks.map(\.finding) == [
                .fault(.chipAbsent(label: "pinctrl-rp1", present: [])), .simulated,
                .reading(Reading(name: "load", value: 0.42, unit: .count, quality: .good, time: time)), .notFitted,
                .fault(.sensorAbsent(sensor: "cpu", place: "thermal zone cpu-thermal")),
            ])
        for case .fault(let error) in checks.map(\.finding) { #expect(error.remedy != nil) }
    }
}
