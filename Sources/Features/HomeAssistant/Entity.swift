import Board
import Groundwork

/// One entity of the board at Home Assistant: a component of its discovery message.
package struct Entity: Sendable, Equatable {
    package enum Platform: String, Sendable, CaseIterable {
        case sensor
        case binarySensor = "binary_sensor"
        case event
        case light
    }

    /// What it is called in the discovery message.
    package let key: String
    package let platform: Platform
    /// Its configuration, without the platform and the unique identifier.
    let configuration: [String: JSON]

    static let buttonKey = "button"
    static let ledKey = "led"
    private static let keyOfSensors = "sensor_"

    /// Whether an entity of a board can have this key.
    static func isKey(_ key: String) -> Bool {
        key == buttonKey || key == ledKey
            || (key.hasPrefix(keyOfSensors) && SensorName.isValid(String(key.dropFirst(keyOfSensors.count))))
    }

    /// The name of the sensor that an entity of this key shows; `nil` for the button and the LED.
    static func sensorName(_ key: String) -> String? {
        key.hasPrefix(keyOfSensors) ? String(key.dropFirst(keyOfSensors.count)) : nil
    }

    /// A sensor of the board's definition.
    init(_ sensor: SensorDefinition) {
        if sensor.isAlarm {
            self.init(alarm: sensor.name)
        } else {
            let counts = sensor.source == .system(.networkSent) || sensor.source == .system(.networkReceived)
            self.init(number: sensor.name, sensor.unit, isDiagnostic: sensor.isOfMachine, countsUp: counts)
        }
    }

    /// A sensor whose readings a program hands in.
    init(handed name: String, _ unit: SenMLUnit) { self.init(number: name, unit, isDiagnostic: false, countsUp: false) }

    /// - Parameter topic: where its presses are published.
    init(buttonAt topic: String) {
        (key, platform) = (Self.buttonKey, .event)
        configuration = [
            "name": "Button", "device_class": "button", "event_types": [.string(Self.press)],
            "state_topic": .string(topic),
        ]
    }

    /// The kind of event that a press of the button is.
    private static let press = "press"
    /// The message that says that the button was pressed.
    static let pressed = JSON.object(["event_type": .string(press)])

    init(ledAt topics: (state: String, command: String)) {
        (key, platform) = (Self.ledKey, .light)
        configuration = [
            "name": "LED", "state_topic": .string(topics.state), "command_topic": .string(topics.command),
        ]
    }

    private init(number name: String, _ unit: SenMLUnit, isDiagnostic: Bool, countsUp: Bool) {
        (key, platform) = (Self.keyOfSensors + name, .sensor)
        let entityClass = EntityClass(of: unit)
        var members: [String: JSON] = [
            "name": .string(Self.title(of: name)),
            // With a class of states it is a number for Home Assistant, and an empty text leaves its state unchanged.
            "state_class": countsUp ? "total_increasing" : "measurement",
            "value_template": .string(Self.template(of: name, "r.value")),
        ]
        members["unit_of_measurement"] = entityClass.unit.map(JSON.string)
        members["device_class"] = entityClass.deviceClass.map(JSON.string)
        if isDiagnostic {
            members["entity_category"] = "diagnostic"
            // Measured to more digits than anybody reads.
            members["suggested_display_precision"] = entityClass.unit.flatMap { ["B": 0, "s": 0, "%": 1][$0] }
        }
        configuration = members
    }

    private init(alarm name: String) {
        (key, platform) = (Self.keyOfSensors + name, .binarySensor)
        configuration = [
            "name": .string(Self.title(of: name)), "device_class": "problem", "entity_category": "diagnostic",
            "value_template": .string(
                Self.template(of: name, "'None' if r.value is none else 'OFF' if r.value == 0 else 'ON'")),
        ]
    }

    /// Picks this reading out of a message with readings; gives an empty text if it has none.
    ///
    /// - Parameter name: of a sensor, so that nothing in it has a meaning for templates.
    private static func template(of name: String, _ value: String) -> String {
        "{% for r in value_json.readings if r.name == '\(name)' %}{{ \(value) }}{% endfor %}"
    }

    /// The name of a sensor as people read it: `CPU temperature` for `cpu.temperature`.
    static func title(of name: String) -> String {
        let words = name.split { ".-_".contains($0) }.map { abbreviations[String($0)] ?? String($0) }
        guard let first = words.first else { return name }
        return ([first.prefix(1).uppercased() + first.dropFirst()] + words.dropFirst()).joined(separator: " ")
    }

    private static let abbreviations = [
        "cpu": "CPU", "gpu": "GPU", "wifi": "Wi-Fi", "co2": "CO₂", "ph": "pH", "voc": "VOC", "led": "LED",
        "usb": "USB", "ssd": "SSD",
    ]
}

extension SensorDefinition {
    /// Whether it says only whether something is wrong: 0 or 1.
    fileprivate var isAlarm: Bool {
        switch source {
        case .system(.throttled): true
        case .hwmon(_, let channel, _):
            unit == .count && (channel.hasSuffix("_alarm") || channel.hasSuffix("_fault"))
        default: false
        }
    }

    /// Whether it measures the machine itself, not what the board was built to measure.
    fileprivate var isOfMachine: Bool {
        switch source {
        case .system, .thermal: true
        case .hwmon, .iio, .oneWire: false
        }
    }
}
