import Dispatch

extension Duration {
    /// The time since the start of the machine, by the kernel's clock that is never set (`CLOCK_MONOTONIC`).
    public static var machineUptime: Duration { .nanoseconds(Int64(clamping: DispatchTime.now().uptimeNanoseconds)) }
}
