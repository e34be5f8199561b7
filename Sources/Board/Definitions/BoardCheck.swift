import FoundationEssentials

/// Checks whether everything that a definition names is there, without requesting any line.
public struct BoardCheck: Sendable, Equatable {
    public enum Part: Sendable, Equatable {
        case button, led
        case sensor(name: String)
    }

    public enum Finding: Sendable, Equatable {
        /// A line that is free, or that the agent holds.
        case line
        /// A part simulated by the agent.
        case simulated
        case reading(Reading)
        /// An optional sensor this board lacks.
        case notFitted
        case fault(BoardError)
    }

    public let part: Part
    public let finding: Finding

    /// Reads every sensor once and looks at every line; takes as long as all sensors take together.
    public static func run(
        _ definition: BoardDefinition, on machine: Machine = Machine(), wallClock: @Sendable () -> Date = { Date() }
    ) async -> [BoardCheck] {
        var checks: [BoardCheck] = []
        for (part, line) in [(Part.button, definition.button), (Part.led, definition.led)] {
            if let line { checks.append(BoardCheck(part: part, finding: look(at: line, on: machine))) }
        }
        let results = await SensorReader(definition.sensors, on: machine).read(Array(definition.sensors.indices))
        let time = wallClock()
        for (sensor, result) in zip(definition.sensors, results) {
            let finding: Finding =
                switch result {
                case .success(let value): .reading(Reading(of: sensor, value, at: time))
                case .failure(let error) where error.isAbsence && sensor.isOptional: .notFitted
                case .failure(let error): .fault(error)
                }
            checks.append(BoardCheck(part: .sensor(name: sensor.name), finding: finding))
        }
        return checks
    }

    private static func look(at line: LineDefinition, on machine: Machine) -> Finding {
        do throws(BoardError) {
            switch line.place {
            case .simulated: return .simulated
            case .input(let devices, let key): _ = try KeyLine(devices: devices, key: key, on: machine)
            case .ledClass(let names): _ = try ClassLED.find(names, on: machine)
            case .gpio(let label, let selector):
                let chip = try GPIOChip(labeled: label, on: machine)
                let consumer = try chip.consumer(of: try chip.offset(of: selector))
                if let consumer, consumer != GPIOLine.consumer {
                    throw BoardError.lineBusy(chip: label, line: selector, consumer: consumer)
                }
            }
            return .line
        } catch {
            return .fault(error)
        }
    }
}
