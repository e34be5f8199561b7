import CMicroHTTPD
import Synchronization

/// What waits to be written of one event stream.
///
/// The source of the events waits while too much does; a reader that takes nothing for long is cut off by
/// libmicrohttpd. So a slow reader costs a bounded amount of memory, and nobody else anything.
final class EventFeed: Sendable {
    /// From so many bytes on the source has to wait. One event may go beyond.
    static let bound = 64 << 10

    private struct State {
        var waiting: [UInt8] = []
        /// How much of `waiting` is written already.
        var written = 0
        var hasEnded = false
        var source: CheckedContinuation<Void, Never>?

        var isFull: Bool { waiting.count - written >= EventFeed.bound }

        mutating func takeSource() -> CheckedContinuation<Void, Never>? {
            guard hasEnded || !isFull else { return nil }
            defer { source = nil }
            return source
        }
    }
    private let state = Mutex(State())
    private let connection: SleepingConnection

    init(_ connection: SleepingConnection) { self.connection = connection }

    /// Waits until there is room, then adds the bytes. For one source at a time.
    ///
    /// - Returns: `false` when the stream has ended.
    func send(_ bytes: [UInt8]) async -> Bool {
        await room()
        let goesOn = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.waiting += bytes
            return true
        }
        if goesOn { connection.wake() }
        return goesOn
    }

    /// Ends the stream once what waits is written, with these bytes as its last.
    func end(with last: [UInt8] = []) {
        let source = state.withLock { state in
            guard !state.hasEnded else { return nil as CheckedContinuation<Void, Never>? }
            state.waiting += last
            state.hasEnded = true
            return state.takeSource()
        }
        source?.resume()
        connection.wake()
    }

    private func room() async {
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                guard state.isFull, !state.hasEnded else { return false }
                state.source = continuation
                return true
            }
            if !waits { continuation.resume() }
        }
    }

    /// On libmicrohttpd's thread: fills its buffer, or lets the connection sleep until there is something to fill it with.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if connection.sleep(unless: { state.withLock { !$0.waiting.isEmpty || $0.hasEnded } }) { return 0 }
        let (count, source) = state.withLock { state -> (Int, CheckedContinuation<Void, Never>?) in
            guard !state.waiting.isEmpty else { return (latchkey_http_end_of_stream, nil) }
            let piece = state.waiting[state.written...].prefix(buffer.count)
            buffer.copyBytes(from: piece)
            state.written += piece.count
            if state.written == state.waiting.count {
                state.waiting.removeAll(keepingCapacity: state.waiting.count <= Self.bound)
                state.written = 0
            }
            return (piece.count, state.takeSource())
        }
        source?.resume()
        return count
    }
}
