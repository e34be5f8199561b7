import CLinux
import Glibc
import Synchronization

/// One thread with a name, on which an actor runs so that its blocking calls (a disk sync, a key derivation) never
/// hold a thread of the cooperative pool.
///
///     actor Vault {
///         private let thread = NamedThread.storage
///         nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
///     }
public final class NamedThread: SerialExecutor, Sendable {
    /// The thread that all databases of the process share: one disk, one queue.
    public static let storage = NamedThread("storage")

    private let jobs = Mutex<[UnownedJob]>([])
    private let wake = Semaphore()

    /// - Parameter name: at most 15 bytes, as Linux shows no more (`PR_SET_NAME`, prctl(2)).
    public init(_ name: String) {
        var thread = pthread_t()
        let start = Unmanaged.passRetained(Start(name: name, executor: self))
        let status = pthread_create(&thread, nil, { argument in
            let start = Unmanaged<Start>.fromOpaque(argument!).takeRetainedValue()
            _ = latchkey_name_thread(start.name)
            start.executor.run()
            return nil
        }, start.toOpaque())
        // No thread means no memory or no process slots; nothing that follows could work.
        precondition(status == 0, "cannot start thread \(name): error \(status)")
        pthread_detach(thread)
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        wake.signal()
    }

    /// Lives as long as the process: the thread holds the executor, as actors may at any time.
    private func run() {
        while true {
            wake.wait()
            let waiting = jobs.withLock { jobs in
                defer { jobs.removeAll(keepingCapacity: true) }
                return jobs
            }
            for job in waiting { job.runSynchronously(on: asUnownedSerialExecutor()) }
        }
    }

    private final class Start: Sendable {
        let name: String
        let executor: NamedThread
        init(name: String, executor: NamedThread) { self.name = name; self.executor = executor }
    }

    /// A POSIX semaphore at an address that stays.
    private final class Semaphore: @unchecked Sendable {
        // `sem_t` is made for use from several threads at once; the pointer itself never changes.
        private let handle = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
        init() { sem_init(handle, 0, 0) }
        deinit { sem_destroy(handle); handle.deallocate() }
        func signal() { sem_post(handle) }
        func wait() { while sem_wait(handle) != 0 {} }
    }
}
