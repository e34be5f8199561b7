import Groundwork
import Synchronization

/// Reads sensors on a thread of their own: a part that takes its time never holds a thread of the cooperative pool.
///
/// A driver that does not come back keeps its thread, for nothing ends a thread that waits in the kernel. Its sensor
/// counts as stalled until it does come back, and another thread reads the others.
actor SensorReader {
    typealias Work = @Sendable (inout SensorProbe) -> Result<SensorValue, BoardError>

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
        for index in indices { results.append(await read(index)) }
        return results
    }

    private func read(_ index: Int) async -> Result<SensorValue, BoardError> {
        let stalled = BoardError.sensorStalled(sensor: definitions[index].name, patience: patience)
        guard let probe = probes[index], let thread = threads.available() else { return .failure(stalled) }
        let turn = Turn()
        let (outcomes, outcome) = AsyncStream.makeStream(
            of: Result<SensorValue, BoardError>?.self, bufferingPolicy: .bufferingOldest(1))
        Task { [work] in
            let done = await thread.read(probe, turn, work)
            threads.cameBack(thread)
            guard let (probe, result) = done else { return }
            probes[index] = probe
            outcome.yield(result)
        }
        let timer = Task { [patience] in
            try await Task.sleep(for: patience)
            outcome.yield(nil)
        }
        defer { timer.cancel() }
        var iterator = outcomes.makeAsyncIterator()
        if let result = await iterator.next() ?? nil { return result }
        if !Task.isCancelled { threads.hangs(thread) }
        // A read that waited behind a driver that hangs is given up; one that hangs itself keeps its probe.
        if !turn.giveUp() { probes[index] = nil }
        return .failure(stalled)
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

    /// `nil` when the read was given up before its turn.
    func read(
        _ probe: SensorProbe, _ turn: Turn, _ work: SensorReader.Work
    ) -> (SensorProbe, Result<SensorValue, BoardError>)? {
        guard turn.begin() else { return nil }
        var probe = probe
        let result = work(&probe)
        return (probe, result)
    }
}

/// Whether a read has begun or has been given up; never both.
private final class Turn: Sendable {
    private let isTaken = Mutex(false)
    func begin() -> Bool { take() }
    func giveUp() -> Bool { take() }

    private func take() -> Bool {
        isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
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
