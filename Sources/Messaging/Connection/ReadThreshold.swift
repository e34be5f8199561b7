import Glibc

/// Lets the kernel wake the connection's thread for a batch of acknowledgements instead of for each (socket(7),
/// SO_RCVLOWAT).
///
/// An acknowledgement has at least four bytes (MQTT 3.1.1 section 3.4), whatever TLS adds: a threshold of four bytes
/// for each expected one is reached by the time all have arrived. Other packets, and fewer acknowledgements than
/// expected, wait no longer than ``patience``.
struct ReadThreshold {
    static let patience = Duration.milliseconds(5)
    /// Smaller batches are not worth waiting for.
    private static let least = 8

    private var bytes: Int32 = 1
    /// The expected bytes did not arrive in time: until new messages are sent, every byte wakes the thread.
    private var hasGivenUp = false

    var isRaised: Bool { bytes > 1 }

    /// - Parameter acknowledgements: how many must arrive before there is something to do.
    mutating func raise(for acknowledgements: Int, on socket: Int32) {
        set(acknowledgements < Self.least || hasGivenUp ? 1 : Int32(acknowledgements) * 4, on: socket)
    }

    /// Nothing arrived within ``patience``.
    mutating func giveUp(on socket: Int32) {
        hasGivenUp = true
        set(1, on: socket)
    }

    /// New messages were sent: raising the threshold is worth another try.
    mutating func resume() { hasGivenUp = false }

    private mutating func set(_ wanted: Int32, on socket: Int32) {
        guard wanted != bytes else { return }
        var value = wanted
        // If this fails, the thread only wakes more often.
        guard setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            return
        }
        bytes = wanted
    }

    /// Sends the TCP acknowledgement now (tcp(7), TCP_QUICKACK): brokers with Nagle's algorithm hold back their MQTT
    /// acknowledgements until then, which would cost 40 ms for each half window. The kernel resets the option by
    /// itself.
    static func confirm(on socket: Int32) {
        var one: Int32 = 1
        // If this fails, it is only slower.
        _ = setsockopt(socket, Int32(IPPROTO_TCP), TCP_QUICKACK, &one, socklen_t(MemoryLayout<Int32>.size))
    }
}
