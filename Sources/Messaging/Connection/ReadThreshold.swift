import Glibc

/// Lets the kernel wake the connection's thread for a batch of acknowledgements instead of for each (socket(7),
/// SO_RCVLOWAT).
///
/// An acknowledgement has at least four bytes (MQTT 3.1.1 section 3.4), whatever TLS adds: a threshold of four bytes
/// for each expected one is reached by the time all have arrived. What TLS adds is learned from how few have come by
/// then. Other packets, and fewer acknowledgements than expected, wait no longer than ``patience``.
struct ReadThreshold {
    static let patience = Duration.milliseconds(5)
    /// Smaller batches are not worth waiting for.
    private static let least = 8
    /// The bytes of an acknowledgement, and the most that it is believed to have with what TLS adds.
    private static let sizes = 4...64
    /// A threshold that was not reached must be an exception among so many: otherwise the broker writes several
    /// acknowledgements at once, which take less together.
    private static let exceptional = 64

    private var bytes: Int32 = 1
    /// The bytes of an acknowledgement, as far as they are known.
    private var size = sizes.lowerBound
    private var mayLearn = true
    /// How often the threshold was reached since it last was not.
    private var reached = 0
    /// The expected bytes did not arrive in time: until new messages are sent, every byte wakes the thread.
    private var hasGivenUp = false

    var isRaised: Bool { bytes > 1 }

    /// - Parameters:
    ///   - acknowledgements: how many must arrive before there is something to do.
    ///   - messages: for how many bytes of messages to wait (``ReceivePace``).
    mutating func raise(for acknowledgements: Int, messages: Int = 1, on socket: Int32) {
        let expected = acknowledgements < Self.least || hasGivenUp ? 1 : acknowledgements * size
        set(Int32(max(expected, messages)), on: socket)
    }

    /// Nothing arrived within ``patience``.
    mutating func giveUp(on socket: Int32) {
        hasGivenUp = true
        if size > Self.sizes.lowerBound, reached < Self.exceptional { mayLearn = false }
        (size, reached) = (Self.sizes.lowerBound, 0)
        set(1, on: socket)
    }

    /// The threshold was reached, by acknowledgements alone: each has taken at least its part.
    mutating func learn(from acknowledgements: Int) {
        guard isRaised, mayLearn, acknowledgements > 0 else { return }
        reached += 1
        size = min(max(Int(bytes) / acknowledgements, Self.sizes.lowerBound), Self.sizes.upperBound)
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
