import Groundwork
import Synchronization

/// Reads sensors on a thread of their own: a part that takes its time never holds a thread of the cooperative pool.
///
/// A driver that does not come back keeps its thread, for nothing ends a thread that waits in the kernel. Its sensor
/// counts as stalled until it does come back, and another thread reads the others.
///
/// Sensors that are read together cost one turn of that thread, and one look at how long it takes.
actor SensorReader {
    typealias Work = @Sendable (inout SensorProbe) -> Result<SensorValue, BoardError>

    nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.board.asUnownedSerialExecutor() }

    private let definitions: [SensorDefinition]
    /// `nil` while a driver holds it.
    private var probes: [SensorProbe?]
    private let threads: SensorThreads
    private let patience: Duration
    private let work: Work

    /// - Parameters:
    ///   - patience: how long a read may take; the slowest of parts, a DS18B20, takes 0.75 s.
    ///   - work: what is done on the thread.
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

    /// - Returns: one for each, or for those up to the first that stalls.
    private func read(
        _ indices: ArraySlice<Int>, on thread: SensorThread
    ) async -> [Result<SensorValue, BoardError>] {
        let turn = Turn(indices.compactMap { probes[$0] }, at: .now)
        let timer = Task(executorPreference: NamedThread.board.tasks) { try await self.watch(turn) }
        Task { [work] in
            await thread.read(turn, work)
            threads.cameBack(thread)
            for (index, probe) in zip(indices, turn.probesBack) { probes[index] = probe }
            turn.end(hasReturned: true)
        }
        await turn.ending()
        timer.cancel()
        var results = turn.results
        guard results.count < indices.count else { return results }
        if !Task.isCancelled, !turn.hasReturned { threads.hangs(thread) }
        // What waited behind a driver that hangs is given up; one that hangs itself keeps its probe.
        let index = indices[indices.startIndex + results.count]
        if turn.isUnderWay { probes[index] = nil }
        results.append(.failure(stalled(index)))
        return results
    }

    /// Ends a turn whose driver does not come back.
    private func watch(_ turn: Turn) async throws {
        var deadline = SuspendingClock.now + patience
        while true {
            try await NamedThread.board.sleep(for: deadline - .now)
            // Another read may have begun meanwhile.
            guard let next = turn.end(unlessBegunAfter: .now - patience) else { return }
            deadline = next + patience
        }
    }

    private func stalled(_ index: Int) -> BoardError {
        .sensorStalled(sensor: definitions[index].name, patience: patience)
    }
}

/// The threads on which sensors are read: one, while no driver hangs.
final class SensorThreads: Sendable {
    /// Those of the process.
    static let common = SensorThreads(limit: 3)

    private let limit: Int
    private let state = Mutex((responsive: [SensorThread](), count: 0))

    init(limit: Int) { self.limit = limit }

    /// `nil` when drivers hang on all of them.
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

    fileprivate func hangs(_ thread: SensorThread) {
        state.withLock { state in state.responsive.removeAll { $0 === thread } }
    }

    fileprivate func cameBack(_ thread: SensorThread) {
        state.withLock { state in
            if !state.responsive.contains(where: { $0 === thread }) { state.responsive.append(thread) }
        }
    }
}

/// A thread on which sensors are read, one after the other.
private actor SensorThread {
    private let thread = NamedThread("sensors")
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Reads on until all are read or the turn has been ended.
    func read(_ turn: Turn, _ work: SensorReader.Work) {
        while var probe = turn.begin() {
            let result = work(&probe)
            turn.finish(probe, result)
        }
    }
}

/// Sensors that a thread reads one after the other, until it has read them all or nobody waits for it any more.
private final class Turn: Sendable {
    private struct State {
        var probes: [SensorProbe]
        var results: [Result<SensorValue, BoardError>] = []
        /// How many reads have come back, those that nobody waited for included.
        var back = 0
        var isUnderWay = false
        /// When the present read began, or the last ended, or the turn was asked for.
        var since: SuspendingClock.Instant
        var hasEnded = false
        var hasReturned = false
        var waiting: CheckedContinuation<Void, Never>?
    }
    private let state: Mutex<State>

    init(_ probes: [SensorProbe], at time: SuspendingClock.Instant) {
        state = Mutex(State(probes: probes, since: time))
    }

    /// What was read before it ended.
    var results: [Result<SensorValue, BoardError>] { state.withLock { $0.results } }
    /// The probes of the reads that came back, in their order.
    var probesBack: [SensorProbe] { state.withLock { Array($0.probes.prefix($0.back)) } }
    /// Whether a driver holds a probe.
    var isUnderWay: Bool { state.withLock { $0.isUnderWay } }
    /// Whether the thread is free again.
    var hasReturned: Bool { state.withLock { $0.hasReturned } }

    /// The next probe to read; `nil` when there is none, or it has ended.
    func begin() -> SensorProbe? {
        state.withLock { state in
            guard !state.hasEnded, state.back < state.probes.count else { return nil }
            state.isUnderWay = true
            state.since = .now
            return state.probes[state.back]
        }
    }

    func finish(_ probe: SensorProbe, _ result: Result<SensorValue, BoardError>) {
        state.withLock { state in
            state.isUnderWay = false
            state.since = .now
            state.probes[state.back] = probe
            state.back += 1
            if !state.hasEnded { state.results.append(result) }
        }
    }

    /// Ends it where it waits, or reads the same sensor, since before `time`.
    ///
    /// - Returns: since when it waits or reads where that is not so.
    func end(unlessBegunAfter time: SuspendingClock.Instant) -> SuspendingClock.Instant? {
        let since = state.withLock { $0.since > time ? $0.since : nil }
        if since == nil { end() }
        return since
    }

    func end(hasReturned: Bool = false) {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            state.hasEnded = true
            if hasReturned { state.hasReturned = true }
            return state.waiting
        }
        waiting?.resume()
    }

    /// Returns when it has ended, at the latest with the task.
    func ending(isolation: isolated (any Actor)? = #isolation) async {
        await withTaskCancellationHandler {
            // Named, as a closure that does not would leave the caller's thread.
            await withCheckedContinuation(isolation: isolation) { waiting in
                let hasEnded = state.withLock { state in
                    if !state.hasEnded { state.waiting = waiting }
                    return state.hasEnded
                }
                if hasEnded { waiting.resume() }
            }
        } onCancel: {
            end()
        }
    }
}

extension SensorProbe {
    /// ``read()`` as a value.
    mutating func result() -> Result<SensorValue, BoardError> {
        do throws(BoardError) {
            return .success(try read())
        } catch {
            return .failure(error)
        }
    }
}
