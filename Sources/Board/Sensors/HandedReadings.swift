import Synchronization

/// Readings that programs of this board hand in, of sensors that the kernel has no driver for. They are shown beside
/// those of the board's own sensors.
public final class HandedReadings: Sendable {
    /// The most names that are remembered, so that a program that makes up names does not fill the memory.
    public static let limit = 64

    private let counts = Mutex<[String: SensorPoller.Counts]>([:])

    public init() {}

    /// Remembers readings, all or none.
    ///
    /// - Returns: `false` if there would be more names than ``limit``.
    public func take(_ readings: [Reading]) -> Bool {
        counts.withLock { counts in
            guard Set(counts.keys).union(readings.map(\.name)).count <= Self.limit else { return false }
            for reading in readings {
                // A program that names another unit has another sensor now.
                var count =
                    counts[reading.name].flatMap { $0.unit == reading.unit ? $0 : nil }
                    ?? SensorPoller.Counts(sensor: reading.name, unit: reading.unit)
                if reading.value == nil { count.failed += 1 } else { count.taken += 1 }
                count.latest = reading
                counts[reading.name] = count
            }
            return true
        }
    }

    /// The newest of each name, by name.
    public func latest() -> [Reading] { all().compactMap(\.latest) }

    /// By name.
    public func all() -> [SensorPoller.Counts] {
        counts.withLock { $0.values.sorted { $0.sensor < $1.sensor } }
    }
}
