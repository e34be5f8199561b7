import Foundation
import TestSupport
import Testing

/// Boards that announce themselves to Home Assistant, at a broker of their owner's.
@Suite("Home Assistant", .timeLimit(.minutes(8)))
struct HomeAssistantTests {
    private static let config = "homeassistant/device/latchkey-pump/config"
    private static let enabled = "[home_assistant]\nenabled = true\n"

    /// Gives `body` a started board with an account at a broker, where it is called `pump`.
    func withBoard(
        settings: String = "", before: (OtherBroker) async throws -> Void = { _ in },
        _ body: (TestBoard, OtherBroker) async throws -> Void
    ) async throws {
        try await BrokerAccountTests().withBoard(settings: settings, isStarted: false) { board, folder in
            let broker = try await OtherBroker(in: folder)
            try await before(broker)
            try await board.start()
            let added = try await board.latchkey(
                "accounts", "add", "home", "--broker", "mqtt://\(broker.address)", "--client-id", "pump", "--json")
            #expect(added.status == 0, "\(added.errors)")
            try await body(board, broker)
        }
    }

    /// The members of the message in a line of `mosquitto_sub -v`.
    private func members(_ line: String) throws -> [String: Any] {
        let text = try #require(line.split(separator: " ", maxSplits: 1).last)
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func components(_ line: String) throws -> [String: [String: Any]] {
        try #require(try members(line)["components"] as? [String: [String: Any]])
    }

    /// The retained announcement, as one who comes late gets it.
    private func kept(at broker: OtherBroker) async throws -> String {
        let late = try await broker.observe(Self.config)
        return try await late.output.line(containing: "\(Self.config) {")
    }

    @Test("a board announces its parts, sends their values, reports presses, and obeys commands for the LED")
    func whole() async throws {
        try await withBoard(settings: Self.enabled) { board, broker in
            let viewer = try await broker.observe("#")
            let line = try await kept(at: broker)
            let announced = try members(line)
            #expect(announced["state_topic"] as? String == "latchkey/pump/telemetry")
            #expect(announced["availability_topic"] as? String == "latchkey/pump/status")
            let components = try components(line)
            #expect(components["sensor_system.load"]?["platform"] as? String == "sensor")
            #expect(components["button"]?["state_topic"] as? String == "latchkey/pump/button")
            #expect(components["led"]?["command_topic"] as? String == "latchkey/pump/led/set")
            _ = try await viewer.output.line(containing: "latchkey/pump/telemetry {")

            _ = try await viewer.output.line(containing: "latchkey/pump/led ON")
            try await broker.publish("off", to: "latchkey/pump/led/set")
            try await broker.publish("OFF", to: "latchkey/pump/led/set")
            _ = try await viewer.output.line(containing: "latchkey/pump/led OFF")
            let press = try await LocalRequest.post(
                #"{"milliseconds":100}"#, to: "/v1/board/button", socket: board.socket)
            #expect(press == 200)
            _ = try await viewer.output.line(containing: #"latchkey/pump/button {"event_type":"press"}"#)

            let before = viewer.output.count
            try await broker.publish("online", to: "homeassistant/status")
            _ = try await viewer.output.line(containing: "\(Self.config) {", after: before)
            let handed = viewer.output.count
            try await board.ask("board", "report", "tank.level", "71", "--unit", "%")
            let grown = try await viewer.output.line(containing: "sensor_tank.level", after: handed)
            #expect(try self.components(grown)["sensor_tank.level"]?["unit_of_measurement"] as? String == "%")
            let checks = try await board.latchkey("doctor")
            #expect(checks.output.contains("entities announced at homeassistant"), "\(checks.output)")
        }
    }

    @Test("an entity that is gone is removed once, and what the board announced is cleared when it no longer should")
    func gone() async throws {
        try await withBoard(settings: Self.enabled) { board, broker in
            _ = try await kept(at: broker)
            try await board.ask("board", "report", "tank.level", "71", "--unit", "%")
            let viewer = try await broker.observe(Self.config)
            _ = try await viewer.output.line(containing: "sensor_tank.level")
            // Programs hand their readings in again after a restart; this one does not.
            try await board.stop()
            let stopped = viewer.output.count
            try await board.start()
            let removal = try await viewer.output.line(
                containing: #""sensor_tank.level":{"platform":"sensor"}"#, after: stopped)
            #expect(try components(removal)["led"]?["command_topic"] != nil)
            let position = try #require(viewer.output.text.range(of: removal))
            let after = viewer.output.text[..<position.upperBound].utf8.count
            let final = try await viewer.output.line(containing: "\(Self.config) {", after: after)
            #expect(try components(final)["sensor_tank.level"] == nil)

            try await board.stop()
            let text = try String(contentsOf: board.configuration, encoding: .utf8)
            try text.replacing(Self.enabled, with: "").write(
                to: board.configuration, atomically: true, encoding: .utf8)
            try await board.start()
            _ = try await viewer.output.line(containing: "\(Self.config) (null)")
            #expect(try await board.latchkey("doctor").output.contains("home_assistant.enabled is false"))
        }
    }

    @Test(
        "a kept message that this board did not write changes nothing",
        arguments: [
            String(repeating: "x", count: 1 << 20), String(repeating: "[", count: 100_000),
            #"{"origin":{"name":"Latchkey"},"device":{"identifiers":["latchkey-pump"]},"#
                + #""components":{"lock":{"platform":"lock"}}}"#,
        ])
    func hostile(text: String) async throws {
        try await withBoard(
            settings: Self.enabled,
            before: { broker in
                let file = FileManager.default.temporaryDirectory.appending(path: "kept-\(UUID().uuidString)")
                try text.write(to: file, atomically: true, encoding: .utf8)
                defer { try? FileManager.default.removeItem(at: file) }
                let result = try await Program(url: URL(filePath: "/usr/bin/mosquitto_pub")).run([
                    "-h", broker.address, "-q", "1", "-r", "-t", Self.config, "-f", file.path,
                ])
                #expect(result.status == 0, "\(result.errors)")
            }
        ) { board, broker in
            let viewer = try await broker.observe("latchkey/pump/led")
            _ = try await viewer.output.line(containing: "latchkey/pump/led ON")
            let components = try components(await kept(at: broker))
            #expect(components["lock"] == nil && components["led"]?["platform"] as? String == "light")
            #expect(try await board.latchkey("status", "--quiet").status == 0)
        }
    }
}

/// With Home Assistant's own MQTT integration.
@Suite("Home Assistant itself", .timeLimit(.minutes(8)))
struct HomeAssistantItselfTests {
    /// The folder that `Tests/HomeAssistant/prepare` has made.
    private static let folder = ProcessInfo.processInfo.environment["LATCHKEY_HOME_ASSISTANT"]
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "HomeAssistant/home_assistant.py")
    private static let commands = """
        {"wait": 9}
        {"service": "light.turn_off", "entity_id": "light.pump_led"}
        {"wait": 2}
        {"show": true}

        """

    @Test(
        "Home Assistant takes what a board announces without a fault, has its values, and switches its LED",
        .enabled(if: folder != nil, "needs Home Assistant: deploy/test --all"))
    func itself() async throws {
        let folder = try #require(Self.folder)
        let settings = "[home_assistant]\nenabled = true\n[gateway]\ndevice_name = \"Pump\"\n"
        try await HomeAssistantTests().withBoard(settings: settings) { _, broker in
            let home = try RunningProgram(
                URL(filePath: "\(folder)/python3"),
                ["-B", Self.script.path, "\(broker.port)", "--host", broker.address], input: Self.commands)
            #expect(try await home.ended() == 0, "\(home.errors.text)")
            let faults = home.output.lines.filter { $0.hasPrefix("{\"fault\"") }
            #expect(faults == [])
            let last = try #require(home.output.lines.last { $0.hasPrefix("{\"entities\"") })
            let answer = try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any]
            let entities = try #require(answer?["entities"] as? [[String: Any]])
            func state(_ id: String) -> String? {
                entities.first { $0["entity_id"] as? String == id }?["state"] as? String
            }
            #expect(state("sensor.pump_system_load").flatMap(Double.init) != nil)
            #expect(state("light.pump_led") == "off")
            #expect(state("event.pump_button") == "unknown", "not pressed yet")
        }
    }
}
