import Groundwork

/// A change in the health of a sensor.
public enum SensorEvent: Sendable, Equatable {
    /// Said once, when it fails; it is asked again all the while.
    case failed(sensor: String, BoardError)
    /// It answers again.
    case recovered(sensor: String)
}

extension SensorEvent: ReportedEvent {
    public var report: EventReport {
        switch self {
        case .failed(let sensor, let error): EventReport("sensor.failed", error: error, ["sensor": .string(sensor)])
        case .recovered(let sensor): EventReport("sensor.recovered", .notable, nil, ["sensor": .string(sensor)])
        }
    }
}
