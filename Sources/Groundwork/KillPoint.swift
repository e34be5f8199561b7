#if DEBUG
    import Glibc
    import Synchronization

    /// Where the environment wants the process to die: `LATCHKEY_KILL_AT=name`, or `name:3` for the third time it comes by.
    private struct KillOrder {
        let name: String
        let time: Int

        static let given: KillOrder? = getenv("LATCHKEY_KILL_AT").map { text in
            let parts = String(cString: text).split(separator: ":", maxSplits: 1)
            return KillOrder(name: parts.first.map(String.init) ?? "", time: parts.count == 2 ? Int(parts[1]) ?? 1 : 1)
        }
    }

    private let passes = Atomic(0)

    /// Ends the process as `kill -9` does, where the environment names this moment.
    ///
    /// `Tests/Crash` names each of them and checks what is true after the next start. Debug builds alone have it: in a release
    /// build nothing is left of the call.
    public func killPoint(_ name: StaticString) {
        guard let order = KillOrder.given, name.description == order.name else { return }
        guard passes.add(1, ordering: .relaxed).newValue == order.time else { return }
        let words = Array("killed at \(order.name)\n".utf8)
        _ = write(STDERR_FILENO, words, words.count)
        kill(getpid(), SIGKILL)
        // The signal ends every thread before this one is scheduled again, or at once.
        while true { pause() }
    }
#else
    /// Nothing: see the debug build's.
    @inlinable @inline(__always)
    public func killPoint(_ name: StaticString) {}
#endif
