import FoundationEssentials
import Groundwork

/// How far a value can be trusted.
public enum Quality: String, Sendable, CaseIterable, AnswerValue {
    case good
    /// Read without an error, but implausible, or the part's known value before its first measurement, or a number that
    /// nothing converts to the sensor's unit.
    case uncertain
    /// The sensor failed; there is no value.
    case bad
}

/// The reading of one sensor at one time.
public struct Reading: Answered, Equatable {
    /// The sensor's name in the board definition.
    public let name: String
    /// In ``unit``; `nil` when the quality is bad.
    public let value: Double?
    public let unit: SenMLUnit
    public let quality: Quality
    public let time: Date

    public init(name: String, value: Double?, unit: SenMLUnit, quality: Quality, time: Date) {
        self.name = name
        self.value = value
        self.unit = unit
        self.quality = quality
        self.time = time
    }

    init(of sensor: SensorDefinition, _ value: SensorValue, at time: Date) {
        self.init(name: sensor.name, value: value.value, unit: sensor.unit, quality: value.quality, time: time)
    }

    /// `{"name", "unit", "value", "quality"}`, the value `null` when the quality is bad.
    package static let answer: Answer<Reading> = [
        "name": .of("name of the sensor in the board definition") { $0.name },
        "unit": .of("a SenML unit, RFC 8428 section 12.1") { $0.unit.rawValue },
        "quality": .of("how reliable it is") { $0.quality },
        "value": .schema(.number("the value in the unit; null if the quality is bad").orNull) {
            $0.value.map(JSON.number) ?? .null
        },
    ]
}

/// The readings that are sent together, as one message.
public struct SampleSet: Sendable, Equatable {
    public let time: Date
    /// In the order of the board definition; never empty.
    public let readings: [Reading]

    public init(time: Date, readings: [Reading]) {
        self.time = time
        self.readings = readings
    }

    /// The telemetry message: UTF-8 JSON on one line.
    ///
    ///     {"readings":[{"name":"cpu.temperature","quality":"good","unit":"Cel","value":48.5}],"time":1767225600000}
    ///
    /// `time` is in milliseconds since 1970 UTC, when the sensors were read. Units are SenML's (``SenMLUnit``).
    /// `quality` is `good`, `uncertain` or `bad`; `value` is `null` when it is `bad`.
    public func payload() -> [UInt8] {
        let milliseconds = Int64((time.timeIntervalSince1970 * 1000).rounded())
        let message: JSON = ["time": .integer(milliseconds), "readings": .array(readings.map(\.json))]
        return message.bytes
    }
}
