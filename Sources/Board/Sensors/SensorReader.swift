import Groundwork
import Synchronization

/// Reads sensors on a thread of their own: a slow part never blocks a thread of the cooperative pool.
///
/// A driver that hangs keeps its thread, because a thread that waits in the kernel cannot be ended. Its sensor counts
/// as stalled until the driver returns, and another thread reads the others.
///
/// Sensors that are read together cost one switch to that thread and one timer.
final actor SensorReader {
    typealias Work = @Sendable (inout SensorProbe) -> Result<SensorValue, BoardError>

    nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.sampling.asUnownedSerialExecutor() }

    private let definitions: [SensorDefinition]
    /// An element is `nil` while a driver hangs with the probe.
    private var probes: [SensorProbe?]
    private let threads: SensorThreads
    private let patience: Duration
    private let work: Work

    /// - Parameters:
    ///   - patience: how long a read may take; the slowest of parts, a DS18B20, takes 0.75 s.
    ///   - work: runs on the thread.
    init(
        _ definitions: [SensorDefinition], on machine: Machine, threads: SensorThreads = .common,
        patience: Duration = .seconds(10), work: @escaping Work = { $0.result() }
    ) {
        self.definitions = definitions
        probes = definitions.map { SensorProbe($0, on: machine) }
        self.threads = threads
        self.patience = patience
        self.work = work
    }

    /// - Parameter indices: of the definitions.
    func read(_ indices: [Int]) async -> [Result<SensorValue, BoardError>] {
        var results: [Result<SensorValue, BoardError>] = []
        while results.count < indices.count {
            let left = indices[results.count...]
            let together = left.prefix { probes[$0] != nil }
            if !together.isEmpty, let thread = threads.available() {
                results += await read(together, on: thread)
            } else {
                results.append(.failure(stalled(left[results.count])))
            }
        }
        return results
    }

    /// - Returns: a result for each, or for those up to and including the first that stalls.
    private func read(
        _ indices: ArraySlice<Int>, on thread: SensorThread
    ) async -> [Result<SensorValue, BoardError>] {
        let batch = ReadBatch(indices.compactMap { probes[$0] }, at: .now)
        let timer = Task(executorPreference: NamedThread.sampling.tasks) { try await self.watch(batch) }
        Task { [work] in
            await thread.read(batch, work)
            threads.markResponsive(thread)
            for (index, probe) in zip(indices, batch.returnedProbes) { probes[index] = probe }
            batch.end(hasReturned: true)
        }
        await batch.waitUntilEnded()
        timer.cancel()
        var results = batch.results
        guard results.count < indices.count else { return results }
        if !Task.isCancelled, !batch.hasReturned { threads.markHung(thread) }
        // Reads queued behind a hung driver are given up; the hung driver keeps its probe.
        let index = indices[indices.startIndex + results.count]
        if batch.isUnderWay { probes[index] = nil }
        results.append(.failure(stalled(index)))
        return results
    }

    /// Ends a batch whose driver hangs.
    private func watch(_ batch: ReadBatch) async throws {
        var deadline = SuspendingClock.now + patience
        while true {
            try await NamedThread.sampling.sleep(for: deadline - .now)
            // Another read may have begun meanwhile.
            guard let next = batch.end(unlessBegunAfter: .now - patience) else { return }
            deadline = next + patience
        }
    }

    private func stalled(_ index: Int) -> BoardError {
        .sensorStalled(sensor: definitions[index].name, patience: patience)
    }
}

/// The threads on which sensors are read: one, while no driver hangs.
final class SensorThreads: Sendable {
    /// Shared by the whole process.
    static let common = SensorThreads(limit: 3)

    private let limit: Int
    private let state = Mutex((responsive: [SensorThread](), count: 0))

    init(limit: Int) { self.limit = limit }

    /// A thread that no driver blocks; `nil` if drivers hang on all of them.
    fileprivate func available() -> SensorThread? {
        state.withLock { state in
            if let thread = state.responsive.first { return thread }
            guard state.count < limit else { return nil }
            let thread = SensorThread()
            state.responsive.append(thread)
            state.count += 1
            return thread
        }
    }

    fileprivate func markHung(_ thread: SensorThread) {
        state.withLock { state in state.responsive.removeAll { $0 === thread } }
    }

    fileprivate func markResponsive(_ thread: SensorThread) {
        state.withLock { state in
            if !state.responsive.contains(where: { $0 === thread }) { state.responsive.append(thread) }
        }
    }
}

/// A thread on which sensors are read, one after the other.
private actor SensorThread {
    private let thread = NamedThread("sensors")
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Reads until all are read or the batch has been ended.
    func read(_ batch: ReadBatch, _ work: SensorReader.Work) {
        while var probe = batch.begin() {
            let result = work(&probe)
            batch.finish(probe, result)
        }
    }
}

/// A batch of sensors that a thread reads one after the other, until all are read or the caller has given up.
private final class ReadBatch: Sendable {
    private struct State {
        var probes: [SensorProbe]
        var results: [Result<SensorValue, BoardError>] = []
        /// How many reads have returned, including those that came too late.
        var returnedCount = 0
        var isUnderWay = false
        /// When the present read began, or the last one ended, or the batch was created.
        var since: SuspendingClock.Instant
        var hasEnded = false
        var hasReturned = false
    }
    private let state: AsyncCondition<State>

    init(_ probes: [SensorProbe], at time: SuspendingClock.Instant) {
        state = AsyncCondition(State(probes: probes, since: time))
    }

    /// The results before the end of the batch.
    var results: [Result<SensorValue, BoardError>] { state.read { $0.results } }
    /// The probes of the reads that returned, in order.
    var returnedProbes: [SensorProbe] { state.read { Array($0.probes.prefix($0.returnedCount)) } }
    /// Whether a driver holds a probe.
    var isUnderWay: Bool { state.read { $0.isUnderWay } }
    /// Whether the thread is free again.
    var hasReturned: Bool { state.read { $0.hasReturned } }

    /// The next probe to read; `nil` if there is none, or the batch has ended.
    func begin() -> SensorProbe? {
        state.change { state in
            guard !state.hasEnded, state.returnedCount < state.probes.count else { return nil }
            state.isUnderWay = true
            state.since = .now
            return state.probes[state.returnedCount]
        }
    }

    func finish(_ probe: SensorProbe, _ result: Result<SensorValue, BoardError>) {
        state.change { state in
            state.isUnderWay = false
            state.since = .now
            state.probes[state.returnedCount] = probe
            state.returnedCount += 1
            if !state.hasEnded { state.results.append(result) }
        }
    }

    /// Ends the batch if it has waited for the thread, or read the same sensor, since before `time`.
    ///
    /// - Returns: otherwise, since when it has.
    func end(unlessBegunAfter time: SuspendingClock.Instant) -> SuspendingClock.Instant? {
        let since = state.read { $0.since > time ? $0.since : nil }
        if since == nil { end() }
        return since
    }

    func end(hasReturned: Bool = false) {
        state.change { state in
            state.hasEnded = true
            if hasReturned { state.hasReturned = true }
        }
    }

    /// Returns when the batch has ended or the task is canceled.
    func waitUntilEnded(isolation: isolated (any Actor)? = #isolation) async {
        await withTaskCancellationHandler {
            await state.wait(isolation: isolation) { $0.hasEnded ? () : nil }
        } onCancel: {
            end()
        }
    }
}

extension SensorProbe {
    /// The outcome of ``read()`` as a value.
    mutating func result() -> Result<SensorValue, BoardError> {
        do throws(BoardError) {
            return .success(try read())
        } catch {
            return .failure(error)
        }
    }
}
