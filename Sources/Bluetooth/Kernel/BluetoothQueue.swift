import Dispatch

/// The serial queue on which the actors of one transport run, and on which their descriptors are watched: an event of
/// a source is handled there directly, without switching executors.
final class BluetoothQueue: SerialExecutor {
    let queue = DispatchQueue(label: "bluetooth")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
