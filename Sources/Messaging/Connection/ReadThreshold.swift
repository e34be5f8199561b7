import Glibc

/// Lets the kernel wake the connection's thread for a batch of acknowledgements instead of for each (socket(7),
/// SO_RCVLOWAT).
///
/// An acknowledgement has at least four bytes (MQTT 3.1.1 section 3.4), whatever TLS adds: a threshold of four for each that
/// is awaited is reached when they have come, at the latest. Anything else that comes meanwhile, and acknowledgements that
/// do not, wait no longer than ``patience``.
struct ReadThreshold {
    static let patience = Duration.milliseconds(5)
    /// Fewer are not worth waiting for.
    private static let least = 8

    private var bytes: Int32 = 1
    /// What was awaited did not come: the next bytes are read when they come.
    private var hasGivenUp = false

    var isRaised: Bool { bytes > 1 }

    /// - Parameter acknowledgements: how many it takes until there is something to do.
    mutating func raise(for acknowledgements: Int, on socket: Int32) {
        set(acknowledgements < Self.least || hasGivenUp ? 1 : Int32(acknowledgements) * 4, on: socket)
    }

    /// Nothing has come for as long as ``patience``.
    mutating func giveUp(on socket: Int32) {
        hasGivenUp = true
        set(1, on: socket)
    }

    /// There are new messages under way.
    mutating func hope() { hasGivenUp = false }

    private mutating func set(_ wanted: Int32, on socket: Int32) {
        guard wanted != bytes else { return }
        var value = wanted
        // Where it fails, the thread wakes more often or earlier.
        guard setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            return
        }
        bytes = wanted
    }

    /// Confirms to TCP what has come in (tcp(7), TCP_QUICKACK), as brokers with Nagle's algorithm keep the acknowledgements
    /// of messages back until then: 40 ms for each half window otherwise. The option wears off by itself.
    static func confirm(on socket: Int32) {
        var one: Int32 = 1
        // Where it fails, it is only slower.
        _ = setsockopt(socket, Int32(IPPROTO_TCP), TCP_QUICKACK, &one, socklen_t(MemoryLayout<Int32>.size))
    }
}
