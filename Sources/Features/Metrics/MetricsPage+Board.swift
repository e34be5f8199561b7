import AgentCore
import Board
import FoundationEssentials

extension MetricsPage {
    /// What the sensors measured, a figure for each unit, and how often they responded.
    mutating func add(_ sensors: [SensorPoller.Counts]) {
        for (unit, help) in SensorUnit.all {
            let samples = sensors.compactMap { sensor -> Sample? in
                let own = SensorUnit(sensor.unit)
                guard own.name == unit, let value = sensor.latest?.value else { return nil }
                return Sample(value * own.factor, [("sensor", sensor.sensor)])
            }
            gauge("latchkey_sensor_\(unit)", unit: unit, help, samples)
        }
        func samples(_ value: (SensorPoller.Counts) -> Double?) -> [Sample] {
            sensors.compactMap { sensor in value(sensor).map { Sample($0, [("sensor", sensor.sensor)]) } }
        }
        gauge(
            "latchkey_sensor_up", "1 if the newest reading has a value, 0 if the sensor did not respond",
            samples { $0.latest.map { $0.value == nil ? 0 : 1 } })
        gauge(
            "latchkey_sensor_last_reading_timestamp_seconds", unit: "seconds",
            "When the newest reading was taken, since 1970",
            samples { $0.latest?.time.timeIntervalSince1970 })
        counter("latchkey_sensor_readings", "Readings that were taken", samples { Double($0.taken) })
        counter(
            "latchkey_sensor_failures", "Attempts at which the sensor did not respond", samples { Double($0.failed) })
    }
}

/// The unit of a sensor among those of OpenMetrics.
struct SensorUnit: Equatable {
    /// As it ends a figure's name.
    let name: String
    /// What a value in the sensor's own unit is multiplied by.
    let factor: Double

    private init(_ name: String, _ factor: Double = 1) { (self.name, self.factor) = (name, factor) }

    init(_ unit: SenMLUnit) {
        self =
            switch unit {
            case .celsius: .init("celsius")
            case .relativeHumidity: .init("ratio", 0.01)
            case .hectopascal: .init("pascals", 100)
            case .pascal: .init("pascals")
            case .volt: .init("volts")
            case .ampere: .init("amperes")
            case .watt: .init("watts")
            case .joule: .init("joules")
            case .lux: .init("lux")
            case .hertz: .init("hertz")
            case .metre: .init("meters")
            case .metresPerSecond: .init("meters_per_second")
            case .metresPerSquareSecond: .init("meters_per_second_squared")
            case .radian: .init("radians")
            case .degree: .init("radians", .pi / 180)
            case .radiansPerSecond: .init("radians_per_second")
            case .tesla: .init("teslas")
            case .ohm: .init("ohms")
            case .farad: .init("farads")
            case .siemensPerMetre: .init("siemens_per_meter")
            case .perMinute: .init("per_minute")
            case .partsPerMillion: .init("parts_per_million")
            case .microgramsPerCubicMetre: .init("grams_per_cubic_meter", 1e-6)
            case .acidity: .init("ph")
            case .decibelMilliwatts: .init("decibel_milliwatts")
            case .byte: .init("bytes")
            case .second: .init("seconds")
            case .ratio: .init("ratio")
            case .percent: .init("ratio", 0.01)
            case .count: .init("number")
            }
    }

    /// Every unit, in the order in which the figures are shown, with what they are.
    static let all: [(name: String, help: String)] = [
        ("celsius", "Temperatures"), ("ratio", "Shares of a whole, such as relative humidity, from 0 to 1"),
        ("pascals", "Pressures"), ("volts", "Voltages"), ("amperes", "Currents"), ("watts", "Powers"),
        ("joules", "Energies"), ("lux", "Illuminances"), ("hertz", "Frequencies"), ("meters", "Distances"),
        ("meters_per_second", "Velocities"), ("meters_per_second_squared", "Accelerations"), ("radians", "Angles"),
        ("radians_per_second", "Angular velocities"), ("teslas", "Magnetic fields"), ("ohms", "Resistances"),
        ("farads", "Capacitances"), ("siemens_per_meter", "Conductivities"),
        ("per_minute", "Revolutions or others per minute"), ("parts_per_million", "Concentrations"),
        ("grams_per_cubic_meter", "Concentrations by mass"), ("ph", "Acidities"),
        ("decibel_milliwatts", "Strengths of radio signals"), ("bytes", "Amounts of data, such as free memory"),
        ("seconds", "Durations, such as the time since the board started"),
        ("number", "Plain numbers, such as the load"),
    ]
}
