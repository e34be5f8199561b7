public import Groundwork

/// A change in the health of a sensor.
public enum SensorEvent: Sendable, Equatable {
    /// Sent once, when the sensor fails; it is still polled.
    case failed(sensor: String, BoardError)
    /// The sensor responds again.
    case recovered(sensor: String)
}

extension SensorEvent: ReportedEvent {
    public static let meanings = [
        "sensor.failed": "a sensor does not respond, or reports something other than a number",
        "sensor.recovered": "a sensor that had failed responds again",
    ]

    public static var details: [String: Schema] {
        ["sensor": .string("its name in the board definition")]
    }

    public var report: EventReport {
        switch self {
        case .failed(let sensor, let error): EventReport("sensor.failed", error: error, ["sensor": .string(sensor)])
        case .recovered(let sensor): EventReport("sensor.recovered", .notable, nil, ["sensor": .string(sensor)])
        }
    }
}
