import Groundwork
import TestSupport
import Testing

/// One board is booted for all of these; each looks at its part of the log.
@Suite(
    "Sensors behind the kernel's drivers",
    .needsBoard,
    .timeLimit(.minutes(40)))
struct SensorDriverTests {
    private static let run = VirtualBoard.Run { try await VirtualBoard.log(of: "sensors", definition: "virtual-board") }

    private func during(_ step: String) async throws -> [JSON] { try await Self.run.value.during(step) }

    /// Values sent for a sensor, in order.
    private func values(_ name: String, in lines: [JSON]) -> [Double] {
        lines.filter { $0["event"]?.string == "reading" && $0["name"]?.string == name }.compactMap {
            $0["value"]?.number
        }
    }

    private func count(_ event: String, of name: String, in lines: [JSON]) -> Int {
        lines.count { $0["event"]?.string == event && $0["name"]?.string == name }
    }

    @Test("sensors are all found by a check, with value and unit")
    func check() async throws {
        let check = try await during("check")
        let expected: [(String, ClosedRange<Double>, String)] = [
            ("cpu.temperature", 45...45, "Cel"), ("tmp75.temperature", 20...20, "Cel"),
            ("sht21.temperature", 19.98...20.02, "Cel"), ("sht21.humidity", 49.98...50.02, "%RH"),
            ("bme280.temperature", 19.99...20.01, "Cel"), ("bme280.humidity", 49.99...50.01, "%RH"),
            ("bme280.pressure", 1013.2...1013.3, "hPa"), ("ds18b20.temperature", 20...20, "Cel"),
        ]
        for (name, range, unit) in expected {
            let line = try #require(check.first { $0["name"]?.string == name })
            #expect(line["event"]?.string == "present")
            #expect(range.contains(try #require(line["reading"]?["value"]?.number)), "\(line.text)")
            #expect(line["reading"]?["unit"]?.string == unit)
            #expect(line["reading"]?["quality"]?.string == "good")
        }
        #expect(check.allSatisfy { $0["event"]?.string == "present" })
    }

    @Test("sensors report a change, each in its unit, and unchanged ones are silent")
    func change() async throws {
        let change = try await during("change")
        #expect(values("cpu.temperature", in: change) == [61.234])
        #expect(values("tmp75.temperature", in: change) == [-12.5])
        #expect(values("sht21.humidity", in: change).allSatisfy { abs($0 - 61) < 0.02 })
        #expect(values("bme280.temperature", in: change).last.map { abs($0 - 31) < 0.02 } == true)
        #expect(values("bme280.pressure", in: change).last.map { abs($0 - 987.65) < 0.05 } == true)
        #expect(values("bme280.humidity", in: change) == [])
        #expect(values("ds18b20.temperature", in: change) == [])
    }

    @Test("sensors are reported once when they do not respond, while the others are still read")
    func absent() async throws {
        let absent = try await during("absent")
        #expect(count("failed", of: "ds18b20.temperature", in: absent) == 1)
        let failure = absent.first { $0["event"]?.string == "failed" }
        #expect(failure?["code"]?.string == "board.sensor-silent")
        let bad = absent.filter { $0["event"]?.string == "reading" && $0["name"]?.string == "ds18b20.temperature" }
        #expect(bad.map { $0["quality"]?.string } == ["bad"])
        #expect(values("cpu.temperature", in: absent) == [50, 52, 54, 56])
    }

    @Test("sensors come back by themselves, which is reported")
    func returned() async throws {
        let returned = try await during("returned")
        #expect(count("recovered", of: "ds18b20.temperature", in: returned) == 1)
        #expect(values("ds18b20.temperature", in: returned).last == -7.5)
    }

    @Test("sensors that return an error are reported with it")
    func failing() async throws {
        let failing = try await during("failing")
        #expect(failing.first { $0["event"]?.string == "failed" }?["code"]?.string == "board.sensor-unreadable")
        #expect(values("cpu.temperature", in: failing) == [47])
    }

    @Test("sensors are found again when the kernel renumbers them")
    func renumbered() async throws {
        let renumbered = try await during("renumbered")
        let numbers = renumbered.filter { $0["event"]?.string == "observed" }.compactMap { $0["value"]?.integer }
        #expect(Set(numbers).count == 2)
        #expect(count("failed", of: "tmp75.temperature", in: renumbered) == 1)
        #expect(count("recovered", of: "tmp75.temperature", in: renumbered) == 1)
        #expect(values("tmp75.temperature", in: renumbered).last == 33)
    }
}
