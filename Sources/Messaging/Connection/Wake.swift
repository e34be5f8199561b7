import CMosquitto
import Glibc

/// Interrupts `poll` on another thread (eventfd(2)).
final class Wake: Sendable {
    let descriptor: Int32

    /// - Returns: `nil` when the process has no descriptor left.
    init?() {
        descriptor = latchkey_mqtt_eventfd()
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    func signal() {
        var one: UInt64 = 1
        // Fails only when so many signals are pending that one more makes no difference.
        _ = write(descriptor, &one, 8)
    }

    func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
