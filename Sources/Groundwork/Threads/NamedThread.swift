import CLinux
import Glibc
import Synchronization

/// A named thread on which an actor runs, so that its blocking calls (a disk sync, a key derivation) never block a
/// thread of the cooperative pool.
///
///     actor Vault {
///         private let thread = NamedThread.storage
///         nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
///     }
public final class NamedThread: SerialExecutor, Sendable {
    /// The thread that all databases of the process share: one disk, one queue.
    public static let storage = NamedThread("storage")
    /// The thread on which keys are derived and generated, which takes seconds on a small board and longer in a chip:
    /// nothing else waits for it. There is none while no key is needed.
    public static let keys = NamedThread("keys", endsAfter: .seconds(30))

    private struct Item {
        let job: UnownedJob
        /// Whether it came through ``tasks``.
        let isPreference: Bool
    }

    /// A caller that sleeps until the thread resumes it.
    private struct Alarm {
        let id: Int
        let time: SuspendingClock.Instant
        let sleeper: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var items: [Item] = []
        var alarms: [Alarm] = []
        var lastAlarm = 0
        /// Whether there is a thread, or one about to start.
        var isRunning = false
        /// Whether the thread waits for a signal that has not been sent yet.
        var isAsleep = false

        var nextAlarm: SuspendingClock.Instant? { alarms.lazy.map(\.time).min() }

        /// The callers to resume now, or else the time until the next one.
        mutating func takeDue() -> ([Alarm], Duration?) {
            guard let next = nextAlarm else { return ([], nil) }
            let now = SuspendingClock.now
            guard next <= now else { return ([], next - now) }
            defer { alarms.removeAll { $0.time <= now } }
            return (alarms.filter { $0.time <= now }, nil)
        }

        /// - Returns: what makes the thread see something new. Only one caller is asked for it.
        mutating func summons() -> Summons {
            guard isRunning else {
                isRunning = true
                return .start
            }
            defer { isAsleep = false }
            return isAsleep ? .wake : .nothing
        }
    }

    /// What the caller has to do so that the thread sees what is new.
    private enum Summons { case nothing, wake, start }

    /// The executor for tasks that prefer this thread (`withTaskExecutorPreference`): code of no actor, or of one
    /// without a thread, then runs here and wakes no other thread. A task of an actor on this thread should also prefer
    /// it if it waits for continuations, because a resumed task runs before it looks for its actor.
    public let tasks = Tasks()

    private let name: String
    private let idleTime: Duration?
    private let state = Mutex(State())
    private let wake = Semaphore()

    /// - Parameters:
    ///   - name: at most 15 bytes, because Linux stores no more (`PR_SET_NAME`, prctl(2)).
    ///   - idleTime: how long the thread stays without a job; the next job starts one again. `nil` for a thread that
    ///     starts at once and runs until the process ends.
    public init(_ name: String, endsAfter idleTime: Duration? = nil) {
        (self.name, self.idleTime) = (name, idleTime)
        tasks.thread.withLock { $0 = self }
        if idleTime == nil { follow(state.withLock { $0.summons() }) }
    }

    private func follow(_ summons: Summons) {
        switch summons {
        case .nothing: break
        case .wake: wake.signal()
        case .start: start()
        }
    }

    private func start() {
        var thread = pthread_t()
        let start = Unmanaged.passRetained(Start(name: name, executor: self))
        let status = pthread_create(
            &thread, nil,
            { argument in
                let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
                CurrentThread.setName(start.name)
                start.executor.run()
                return nil
            }, start.toOpaque())
        // Without memory or process slots nothing that follows could work.
        precondition(status == 0, "cannot start thread \(name): error \(status)")
        pthread_detach(thread)
    }

    public func enqueue(_ job: consuming ExecutorJob) { enqueue(Item(job: UnownedJob(job), isPreference: false)) }

    private func enqueue(_ item: Item) {
        let summons = state.withLock { state in
            state.items.append(item)
            return state.summons()
        }
        follow(summons)
    }

    /// Runs until it has been idle for long enough, or the process ends: actors may use the executor at any time.
    private func run() {
        let (actors, tasks) = (asUnownedSerialExecutor(), tasks.asUnownedTaskExecutor())
        var items: [Item] = []
        var lastUse = SuspendingClock.now
        while true {
            let (due, patience, isOver) = state.withLock { state in
                swap(&items, &state.items)
                var (due, left) = state.takeDue()
                let isIdle = items.isEmpty && due.isEmpty
                if isIdle, left == nil, let idleTime { left = idleTime - (.now - lastUse) }
                let isOver = isIdle && state.alarms.isEmpty && left.map { $0 <= .zero } ?? false
                state.isRunning = !isOver
                state.isAsleep = isIdle && !isOver
                return (due, left, isOver)
            }
            // From here on, the next job starts another thread.
            guard !isOver else { return }
            for alarm in due { alarm.sleeper.resume() }
            for item in items {
                if item.isPreference {
                    item.job.runSynchronously(on: tasks)
                } else {
                    item.job.runSynchronously(on: actors)
                }
            }
            if items.isEmpty, due.isEmpty {
                wake.wait(for: patience)
            } else if idleTime != nil {
                lastUse = .now
            }
            items.removeAll(keepingCapacity: true)
        }
    }

    // MARK: Sleeping

    /// Suspends the caller. The thread's own wait is the timer: a caller on this thread wakes no other thread, while
    /// `Task.sleep` wakes three. Time during which the machine is suspended does not count.
    ///
    /// - Throws: `CancellationError`
    public func sleep(for duration: Duration, isolation: isolated (any Actor)? = #isolation) async throws {
        try Task.checkCancellation()
        guard duration > .zero else { return }
        let time = SuspendingClock.now + duration
        let id = state.withLock { state in
            state.lastAlarm += 1
            return state.lastAlarm
        }
        try await withTaskCancellationHandler {
            // Pass `isolation` explicitly: otherwise the closure would leave the caller's thread.
            try await withCheckedThrowingContinuation(isolation: isolation) { sleeper in
                let summons = state.withLock { state in
                    let isFirst = state.nextAlarm.map { time < $0 } ?? true
                    state.alarms.append(Alarm(id: id, time: time, sleeper: sleeper))
                    return isFirst ? state.summons() : .nothing
                }
                follow(summons)
                // The cancellation may have come before the alarm was added.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func cancel(_ id: Int) {
        let alarm = state.withLock { state in
            state.alarms.firstIndex { $0.id == id }.map { state.alarms.remove(at: $0) }
        }
        alarm?.sleeper.resume(throwing: CancellationError())
    }

    /// Runs work of this thread's actors for a thread that has to wait for its result, such as one that calls C.
    ///
    /// Never called on this thread itself, nor on one of the cooperative pool.
    public func waiting<Value: Sendable>(for work: @escaping @Sendable () async -> Value) -> Value {
        let (result, done) = (Result<Value>(), Semaphore())
        Task(executorPreference: tasks) {
            let value = await work()
            result.value.withLock { $0 = value }
            done.signal()
        }
        done.wait(for: nil)
        return result.value.withLock { $0! }
    }

    private final class Result<Value: Sendable>: Sendable { let value = Mutex<Value?>(nil) }

    /// A thread as a task executor.
    public final class Tasks: TaskExecutor {
        // Set once, by the executor that it belongs to.
        fileprivate let thread = Mutex<NamedThread?>(nil)

        fileprivate init() {}

        public func enqueue(_ job: consuming ExecutorJob) {
            let item = Item(job: UnownedJob(job), isPreference: true)
            thread.withLock { $0 }?.enqueue(item)
        }
    }

    private final class Start: Sendable {
        let name: String
        let executor: NamedThread
        init(name: String, executor: NamedThread) {
            self.name = name
            self.executor = executor
        }
    }

    /// A POSIX semaphore at a fixed address.
    private final class Semaphore: @unchecked Sendable {
        // `@unchecked Sendable` is correct because a `sem_t` is there for use by several threads (sem_overview(7)), and
        // the pointer never changes.
        private let handle = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        init() { sem_init(handle, 0, 0) }
        deinit {
            sem_destroy(handle)
            handle.deallocate()
        }
        func signal() { sem_post(handle) }

        /// - Parameter patience: the maximum wait; `nil` waits forever. May return early.
        func wait(for patience: Duration?) {
            guard let patience else {
                while sem_wait(handle) != 0 {}
                return
            }
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            let (seconds, attoseconds) = max(patience, .zero).components
            let nanoseconds = time.tv_nsec + Int(attoseconds / 1_000_000_000)
            time.tv_sec += Int(min(seconds, 1 << 31)) + nanoseconds / 1_000_000_000
            time.tv_nsec = nanoseconds % 1_000_000_000
            _ = latchkey_semaphore_wait(handle, &time)
        }
    }
}
