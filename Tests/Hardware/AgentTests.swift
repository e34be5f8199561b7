import Groundwork
import TestSupport
import Testing

/// One board is booted for all of these; each looks at its part of the log.
@Suite(
    "The agent on a board",
    .needsBoard,
    .timeLimit(.minutes(40)))
struct AgentTests {
    private static let run = VirtualBoard.Run {
        try await VirtualBoard.log(of: "agent", definition: "virtual-board") { definition in
            VirtualBoard.debouncing(definition, milliseconds: 1000)
        }
    }

    private func during(_ step: String) async throws -> [JSON] { try await Self.run.value.during(step) }

    /// What was seen from outside, in order.
    private func observed(_ name: String, in lines: [JSON]) -> [Int64] {
        lines.filter { $0["event"]?.string == "observed" && $0["name"]?.string == name }.compactMap {
            $0["value"]?.integer
        }
    }

    private func events(_ prefix: String, in lines: [JSON]) -> [JSON] {
        lines.filter { $0["event"]?.string?.hasPrefix(prefix) == true }
    }

    /// What the lab knew at the end of the step.
    private func lab(_ lines: [JSON]) throws -> Lab {
        try Lab(state: #require(lines.last { $0["event"]?.string == "lab" }?["state"]))
    }

    @Test("the agent on a board is enrolled by a URL, registers, connects to the broker and lights the LED")
    func enrolled() async throws {
        let fresh = try await during("fresh")
        #expect(fresh.first { $0["uptime"] != nil }?["registration"]?["state"]?.string == "unregistered")
        #expect(observed("led", in: fresh) == [0])

        let enrolled = try await during("enrolled")
        #expect(observed("enroll", in: enrolled) == [0])
        let registration = enrolled.compactMap { $0["registration"] }.last
        #expect(registration?["state"]?.string == "registered")
        let happened = enrolled.compactMap { $0["event"]?.string }
        let registered = try #require(happened.firstIndex(of: "gateway.device-did-register"))
        let connected = try #require(happened.firstIndex(of: "broker.connected"))
        #expect(registered < connected)
        #expect(observed("led", in: enrolled) == [1])
        let device = try await lab(during("readings")).device
        #expect(device?["device_id"] == registration?["deviceID"])
        #expect(device?["name"]?.string == "board")
        #expect(device?["connected"]?.bool == true)
    }

    @Test("the agent on a board finds every part by a check while it uses them")
    func check() async throws {
        let check = try await during("check")
        #expect(observed("check", in: check) == [0])
        let parts = try #require(check.first { $0["parts"] != nil }?["parts"]?.array)
        #expect(parts.prefix(2).map { $0["part"]?.string } == ["button", "led"])
        #expect(parts.count == 13)
        #expect(parts.allSatisfy { $0["verdict"]?.string == "present" })
    }

    @Test("the agent on a board passes every check of the doctor, except for the development key")
    func doctor() async throws {
        let check = try await during("check")
        #expect(observed("doctor", in: check) == [0])
        #expect(try verdicts(of: check).filter { !["pass", "skip"].contains($0.value) } == ["vault": "warn"])
    }

    private func verdicts(of lines: [JSON]) throws -> [String: String] {
        let checks = try #require(lines.first { $0["checks"] != nil }?["checks"]?.array)
        return Dictionary(uniqueKeysWithValues: checks.map { ($0["name"]?.string ?? "", $0["verdict"]?.string ?? "") })
    }

    @Test("the agent on a board brings what the drivers measure to the broker, each in its unit")
    func readings() async throws {
        let readings = try await lab(during("readings")).readings
        let expected: [(String, ClosedRange<Double>, String)] = [
            ("cpu.temperature", 61.234...61.234, "Cel"), ("tmp75.temperature", -12.5 ... -12.5, "Cel"),
            ("sht21.humidity", 60.98...61.02, "%RH"), ("bme280.temperature", 30.98...31.02, "Cel"),
            ("bme280.pressure", 987.6...987.7, "hPa"), ("ds18b20.temperature", 4.5...4.5, "Cel"),
        ]
        for (name, range, unit) in expected {
            let last = try #require(readings.last { $0["name"]?.string == name }, "no reading of \(name)")
            #expect(range.contains(try #require(last["value"]?.number)), "\(last.text)")
            #expect(last["unit"]?.string == unit)
            #expect(last["quality"]?.string == "good")
        }
    }

    @Test("the agent on a board reports a part that vanished once, to the doctor too, and sends other readings")
    func absent() async throws {
        let absent = try await during("absent")
        let failures = events("sensor.", in: absent)
        #expect(failures.map { $0["event"]?.string } == ["sensor.failed"])
        #expect(failures.first?["sensor"]?.string == "ds18b20.temperature")
        #expect(failures.first?["code"]?.string == "board.sensor-silent")
        #expect(observed("doctor", in: absent) == [1])
        #expect(try verdicts(of: absent)["sensors"] == "fail")

        let readings = try await lab(during("returned")).readings
        let temperatures = readings.filter { $0["name"]?.string == "cpu.temperature" }.compactMap {
            $0["value"]?.number
        }
        #expect(temperatures.suffix(3) == [50, 53, 56])
    }

    @Test("the agent on a board reports a part's return, and sends its readings again")
    func returned() async throws {
        let returned = try await during("returned")
        let recoveries = events("sensor.", in: returned)
        #expect(recoveries.map { $0["event"]?.string } == ["sensor.recovered"])
        #expect(recoveries.first?["sensor"]?.string == "ds18b20.temperature")
        let readings = try lab(returned).readings.filter { $0["name"]?.string == "ds18b20.temperature" }
        #expect(readings.suffix(3).map { $0["quality"]?.string } == ["good", "bad", "good"])
        #expect(readings.suffix(3).map { $0["value"]?.number } == [4.5, nil, -7.5])
    }

    @Test("the agent on a board reports a press on a bouncing button once")
    func bouncing() async throws {
        let presses = events("button.", in: try await during("bouncing"))
        #expect(presses.map { $0["event"]?.string } == ["button.pressed", "button.released"])
        #expect(try #require(presses.last?["heldMilliseconds"]?.integer) > 0)
    }

    @Test("the agent on a board delivers a message that a program on the board publishes")
    func publish() async throws {
        let publish = try await during("publish")
        #expect(observed("publish", in: publish) == [0])
        let lab = try lab(publish)
        let door = lab.messages.filter { $0["topic"]?.string?.hasSuffix("/custom/door/state") == true }
        #expect(door.map { $0["payload"]?.string } == ["open"])
        let device = try #require(lab.device?["device_id"]?.string)
        #expect(door.first?["topic"]?.string == "/2.0/client/devices/\(device)/custom/door/state")
    }

    @Test("the agent on a board disconnects from the broker in order when it is told to end")
    func ended() async throws {
        let ended = try await during("ended")
        #expect(observed("agent", in: ended) == [0])
        let presence = try lab(ended).messages.filter { $0["topic"]?.string?.hasSuffix("/custom/status") == true }
        #expect(presence.map { $0["payload"]?.string } == ["online", "offline"])
    }
}

/// What the lab gateway tells of itself.
private struct Lab {
    let device: JSON?
    /// What arrived at the broker, the oldest first.
    let messages: [JSON]

    init(state: JSON) {
        device = state["devices"]?[0]
        messages = (state["messages"]?.array ?? []).reversed()
    }

    /// Of all sensors, in the order in which they arrived.
    var readings: [JSON] {
        messages.filter { $0["topic"]?.string?.hasSuffix("/custom/telemetry") == true }
            .compactMap { $0["payload"]?.string }.compactMap { try? JSON(parsing: $0.utf8) }
            .flatMap { $0["readings"]?.array ?? [] }
    }
}
