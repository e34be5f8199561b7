import FoundationEssentials
import Groundwork

/// Reads the sensors of a board at their periods and delivers the readings that are worth sending.
///
/// There is one timer, for the sensor that is due next; between two readings nothing runs. Sensors do not affect each
/// other.
public final actor SensorPoller {
    public nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.sampling.asUnownedSerialExecutor() }

    /// A sensor that does not respond.
    public struct Failure: Sendable, Equatable {
        public let sensor: String
        public let error: BoardError
        public let since: Date
    }

    /// What became of the readings of a sensor.
    public struct Counts: Sendable, Equatable {
        public let sensor: String
        public let unit: SenMLUnit
        /// Since the start.
        public var taken = 0
        /// Since the start: attempts at which the sensor did not respond.
        public var failed = 0
        /// The newest one, if there was any.
        public var latest: Reading?
    }

    /// The readings to send, one set for each time at which sensors were due and had any.
    public nonisolated let samples = Broadcast<SampleSet>()
    public nonisolated let events = Broadcast<SensorEvent>()

    private struct Sensor {
        let definition: SensorDefinition
        var policy: SendingPolicy
        var counts: Counts
        var failure: Failure?
        /// Whether it has ever responded: an optional part that responded and vanished is a failure.
        var hasResponded = false
    }

    private var sensors: [Sensor]
    private let reader: SensorReader
    private let clock: any SteadyClock
    private let wallClock: @Sendable () -> Date
    private let retryCap: Duration

    /// - Parameters:
    ///   - clock: for intervals.
    ///   - wallClock: for the times in readings.
    ///   - retryCap: the longest time between two attempts at a failing sensor, or its period where that is longer.
    public init(
        _ definitions: [SensorDefinition], on machine: Machine = Machine(), clock: (any SteadyClock)? = nil,
        wallClock: @escaping @Sendable () -> Date = { Date() }, retryCap: Duration = .seconds(300)
    ) {
        sensors = definitions.map { definition in
            Sensor(
                definition: definition, policy: SendingPolicy(definition),
                counts: Counts(sensor: definition.name, unit: definition.unit))
        }
        reader = SensorReader(definitions, on: machine)
        self.clock = clock ?? MonotonicClock(on: .sampling)
        self.wallClock = wallClock
        self.retryCap = retryCap
    }

    /// Polls until canceled.
    ///
    /// - Parameter send: passes on what is worth sending, before anything else is read.
    /// - Throws: `CancellationError`
    public func run(sending send: @escaping @Sendable (SampleSet) async -> Void = { _ in }) async throws {
        // Continuations resume on the preferred executor first: this one is the actor's own thread.
        try await withTaskExecutorPreference(NamedThread.sampling.tasks) { try await poll(send) }
    }

    private func poll(_ send: @Sendable (SampleSet) async -> Void) async throws {
        var schedule = PollingSchedule(
            periods: sensors.map(\.definition.period), startingAt: clock.now, retryCap: retryCap)
        while true {
            try await clock.sleep(until: schedule.nextDue ?? clock.now + .seconds(86_400), isolation: self)
            let now = clock.now
            let due = schedule.due(at: now)
            guard !due.isEmpty else { continue }
            let results = await reader.read(due.map(\.index))
            try Task.checkCancellation()
            let time = wallClock()
            var worthSending: [Reading] = []
            for (item, result) in zip(due, results) {
                switch result {
                case .success: schedule.recordSuccess(item.index, at: now)
                case .failure(let error):
                    sensors[item.index].counts.failed += 1
                    let mayPass = mayPass(error, of: sensors[item.index])
                    guard schedule.recordFailure(item.index, at: now, mayPass: mayPass) == .down else { continue }
                }
                guard let reading = take(result, from: item.index, time) else { continue }
                if sensors[item.index].policy.shouldSend(reading.value, reading.quality, at: item.at) {
                    worthSending.append(reading)
                }
            }
            guard !worthSending.isEmpty else { continue }
            let set = SampleSet(time: time, readings: worthSending)
            samples.send(set)
            await send(set)
        }
    }

    /// The newest reading of each sensor that has one, in the order of the definition.
    public func latest() -> [Reading] { sensors.compactMap(\.counts.latest) }

    /// Of every sensor, in the order of the definition.
    public func counts() -> [Counts] { sensors.map(\.counts) }

    /// The sensors that do not respond, in the order of the definition.
    public func failing() -> [Failure] { sensors.compactMap(\.failure) }

    /// How many optional sensors have not responded, and are taken to be absent.
    public func absentCount() -> Int {
        sensors.count { $0.definition.isOptional && $0.counts.latest == nil }
    }

    /// Whether reading the sensor again within seconds may succeed: not if its driver hangs, or if there never was one.
    private func mayPass(_ error: BoardError, of sensor: Sensor) -> Bool {
        if case .sensorStalled = error { return false }
        return sensor.hasResponded || !error.isAbsence
    }

    /// Records a sensor's result and reports a change of its health; `nil` while an optional part is absent.
    private func take(_ result: Result<SensorValue, BoardError>, from index: Int, _ time: Date) -> Reading? {
        let definition = sensors[index].definition
        let reading: Reading
        switch result {
        case .success(let value):
            if sensors[index].failure != nil { events.send(.recovered(sensor: definition.name)) }
            sensors[index].failure = nil
            sensors[index].hasResponded = true
            sensors[index].counts.taken += 1
            reading = Reading(of: definition, value, at: time)
        case .failure(let error)
        where definition.isOptional && error.isAbsence && (error.isAbsenceOfMetric || !sensors[index].hasResponded):
            sensors[index].failure = nil
            sensors[index].counts.latest = nil
            return nil
        case .failure(let error):
            if sensors[index].failure == nil {
                sensors[index].failure = Failure(sensor: definition.name, error: error, since: time)
                events.send(.failed(sensor: definition.name, error))
            }
            reading = Reading(name: definition.name, value: nil, unit: definition.unit, quality: .bad, time: time)
        }
        sensors[index].counts.latest = reading
        return reading
    }
}
