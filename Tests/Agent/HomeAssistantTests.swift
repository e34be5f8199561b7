import Foundation
import Groundwork
import Testing

@testable import AgentHomeAssistant
@testable import Board

@Suite("Announcements to Home Assistant")
struct HomeAssistantTests {
    private static func device(_ availability: String? = "latchkey/pump/status") -> AnnouncedDevice {
        AnnouncedDevice(
            id: AnnouncedDevice.id(of: "pump"), name: "Pump", model: "Raspberry Pi 4 Model B",
            telemetryTopic: "latchkey/pump/telemetry", availabilityTopic: availability)
    }

    private static func alarm(_ name: String) -> Entity {
        Entity(
            SensorDefinition(
                name: name, source: .hwmon(devices: ["rpi_volt"], channel: "in0_lcrit_alarm", bus: nil), unit: .count))
    }

    @Test("a discovery message says what the board is, where its readings are and how to pick each")
    func whole() throws {
        let message = DiscoveryMessage(
            Self.device(),
            [
                Entity(buttonAt: "latchkey/pump/button"),
                Entity(ledAt: (state: "latchkey/pump/led", command: "latchkey/pump/led/set")),
                Entity(SensorDefinition(name: "cpu.temperature", source: .thermal(zones: ["cpu"]), unit: .celsius)),
                Entity(SensorDefinition(name: "network.sent", source: .system(.networkSent), unit: .byte)),
                Self.alarm("board.under-voltage"), Entity(handed: "tank.level", .percent),
            ])
        let json = try JSON(parsing: message.payload)
        #expect(json["device"]?["identifiers"] == ["latchkey-pump"])
        #expect(json["device"]?["name"] == "Pump")
        #expect(json["device"]?["manufacturer"] == "Raspberry Pi")
        #expect(json["origin"]?["name"] == "Latchkey")
        #expect(json["state_topic"] == "latchkey/pump/telemetry")
        #expect(json["availability_topic"] == "latchkey/pump/status")
        let components = try #require(json["components"]?.object)
        #expect(
            components["sensor_cpu.temperature"] == [
                "platform": "sensor", "name": "CPU temperature", "unique_id": "latchkey-pump_sensor_cpu.temperature",
                "device_class": "temperature", "unit_of_measurement": "°C", "state_class": "measurement",
                "entity_category": "diagnostic",
                "value_template":
                    "{% for r in value_json.readings if r.name == 'cpu.temperature' %}{{ r.value }}{% endfor %}",
            ])
        #expect(components["sensor_network.sent"]?["state_class"] == "total_increasing")
        #expect(components["sensor_network.sent"]?["suggested_display_precision"] == 0)
        #expect(components["sensor_tank.level"]?["entity_category"] == nil)
        let alarm = try #require(components["sensor_board.under-voltage"])
        #expect(alarm["platform"] == "binary_sensor" && alarm["device_class"] == "problem")
        #expect(components["button"]?["event_types"] == ["press"])
        #expect(components["led"]?["platform"] == "light")
        #expect(components["led"]?["command_topic"] == "latchkey/pump/led/set")
        #expect(components.count == 6 && message.leftOut == 0)
    }

    @Test("without a status that the broker keeps there is no availability")
    func presence() throws {
        let json = try JSON(parsing: DiscoveryMessage(Self.device(nil), []).payload)
        #expect(json["availability_topic"] == nil && json["payload_available"] == nil)
    }

    @Test("a message has at most 256 entities and stays below 64 KiB; the rest is left out")
    func bounds() throws {
        let long = (0..<400).map { Entity(handed: "\(String(repeating: "x", count: 60))\($0)", .celsius) }
        let message = DiscoveryMessage(Self.device(), long)
        #expect(message.payload.count < 64 << 10)
        #expect(message.entities.count < 256 && message.entities.count + message.leftOut == 400)
        #expect(message.entities == Array(long.prefix(message.entities.count)))
        let small = DiscoveryMessage(Self.device(), long, limit: 2000)
        #expect(small.payload.count <= 2000 && !small.entities.isEmpty)
        let buttons = [Entity](repeating: Entity(buttonAt: "b"), count: 300)
        #expect(DiscoveryMessage(Self.device(), buttons).entities.count == 256)
    }

    @Test("what the broker has kept is read back as the entities that were announced")
    func readBack() throws {
        let former = DiscoveryMessage(Self.device(), [Self.alarm("old"), Entity(handed: "kept", .celsius)])
        let read = try #require(FormerEntities(parsing: former.payload, of: "latchkey-pump"))
        #expect(read.platforms == ["sensor_old": .binarySensor, "sensor_kept": .sensor])
        let next = DiscoveryMessage(Self.device(), [Entity(handed: "kept", .celsius)])
        let gone = read.gone(from: next.entities)
        #expect(gone == ["sensor_old": .binarySensor])
        let removal = try JSON(parsing: next.payload(removing: gone))
        #expect(removal["components"]?["sensor_old"] == ["platform": "binary_sensor"])
        #expect(removal["components"]?["sensor_kept"]?["name"] == "Kept")
        let short = try JSON(parsing: next.payload(removing: gone, limit: 400))
        #expect(short["components"]?.object?.count == 1)
        // The same key on another platform is another entity.
        #expect(read.gone(from: [Entity(handed: "old", .count)])["sensor_old"] == .binarySensor)
        #expect(FormerEntities(parsing: next.payload(removing: gone), of: "latchkey-pump") != nil)
    }

    private static func kept(_ components: String) -> String {
        #"{"origin":{"name":"Latchkey"},"device":{"identifiers":["latchkey-pump"]},"components":\#(components)}"#
    }

    @Test(
        "a kept message that this board did not write has no entities",
        arguments: [
            "", "online", "[]", "{}", String(repeating: "[", count: 100_000), String(repeating: "x", count: 1 << 20),
            #"{"origin":{"name":"Other"},"device":{"identifiers":["latchkey-pump"]},"components":{}}"#,
            #"{"origin":{"name":"Latchkey"},"device":{"identifiers":["other"]},"components":{}}"#,
            kept(#"{"a b":{"platform":"sensor"}}"#), kept(#"{"led":{"platform":"lock"}}"#), kept(#"{"led":7}"#),
        ])
    func foreign(text: String) { #expect(FormerEntities(parsing: Array(text.utf8), of: "latchkey-pump") == nil) }

    @Test("every unit has what Home Assistant calls it, and names are as people read them")
    func names() {
        for unit in SenMLUnit.allCases where ![.count, .ratio, .acidity].contains(unit) {
            #expect(EntityClass(of: unit).unit != nil, "\(unit)")
        }
        #expect(EntityClass(of: .acidity).unit == nil && EntityClass(of: .acidity).deviceClass == "ph")
        #expect(Entity.title(of: "wifi.signal") == "Wi-Fi signal")
        #expect(Entity.title(of: "board.boot-reason") == "Board boot reason")
        #expect(Entity.title(of: "...") == "...")
    }

    @Test("identifiers of different boards stay different where Home Assistant does not allow their characters")
    func identifiers() {
        #expect(AnnouncedDevice.id(of: "pump-0d329a") == "latchkey-pump-0d329a")
        let (first, second) = (AnnouncedDevice.id(of: "a.b"), AnnouncedDevice.id(of: "a:b"))
        #expect(first != second && first.hasPrefix("latchkey-a_b-"))
        #expect(AnnouncedDevice.id(of: String(repeating: "é", count: 4000)).utf8.count < 160)
    }

    @Test(
        "a command for the LED is ON or OFF, and nothing else",
        arguments: [("ON", true), ("OFF", true), ("on", false), ("ON ", false), ("", false), ("TOGGLE", false)])
    func commands(text: String, isOne: Bool) { #expect((LEDCommand(Array(text.utf8)) != nil) == isOne) }

    @Test("Home Assistant can ask for the announcement four times a minute")
    func allowance() {
        var allowance = AnnouncementAllowance()
        let now = ContinuousClock.now
        for _ in 0..<4 {
            let takes = allowance.takes(at: now)
            #expect(takes)
        }
        let (early, late) = (
            allowance.takes(at: now + .seconds(59)), allowance.takes(at: now + .seconds(60))
        )
        #expect(!early && late)
    }
}
