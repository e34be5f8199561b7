#if DEBUG
import Glibc
import Synchronization

/// The kill point to stop at, from the environment: `LATCHKEY_KILL_AT=name`, or `name:3` for the third pass.
private struct KillOrder {
    let name: String
    let time: Int

    static let given: KillOrder? = getenv("LATCHKEY_KILL_AT").map { text in
        let parts = String(cString: text).split(separator: ":", maxSplits: 1)
        return KillOrder(name: parts.first.map(String.init) ?? "", time: parts.count == 2 ? Int(parts[1]) ?? 1 : 1)
    }
}

private let passes = Atomic(0)

/// Ends the process like `kill -9` if the environment selects this kill point.
///
/// `Tests/Crash` uses each of them and checks the state after the next start. Only debug builds have them: in a
/// release build the call has no code.
public func killPoint(_ name: StaticString) {
    guard let order = KillOrder.given, name.description == order.name else { return }
    guard passes.add(1, ordering: .relaxed).newValue == order.time else { return }
    let words = Array("killed at \(order.name)\n".utf8)
    _ = write(STDERR_FILENO, words, words.count)
    kill(getpid(), SIGKILL)
    // The signal ends the process at once, or before this thread runs again.
    while true { pause() }
}
#else
/// Does nothing; see the version of debug builds.
@inlinable @inline(__always)
public func killPoint(_ name: StaticString) {}
#endif
