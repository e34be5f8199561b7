import CMicroHTTPD
import Groundwork

/// The unwritten part of one event stream.
///
/// The source of the events has to wait while too much is unwritten; libmicrohttpd disconnects a reader that takes
/// nothing for long. So a slow reader costs a bounded amount of memory, and does not affect other readers.
final class EventFeed: Sendable {
    /// From this many bytes on, the source has to wait. What it sends at once may exceed it.
    static let bound = 64 << 10

    private struct State {
        var waiting: [UInt8] = []
        /// How much of `waiting` has been written.
        var written = 0
        var hasEnded = false
        /// The rest will never come: the reader must not take what it has for all.
        var isBroken = false

        var isFull: Bool { waiting.count - written >= EventFeed.bound }

        /// - Returns: `false` when the stream has ended.
        mutating func add(_ bytes: [UInt8]) -> Bool {
            guard !hasEnded else { return false }
            if waiting.isEmpty { waiting = bytes } else { waiting += bytes }
            return true
        }

        /// Puts back what comes before everything that waits, also what was added in the meantime for the end.
        mutating func putBack(_ bytes: ArraySlice<UInt8>) {
            guard !isBroken else { return }
            (waiting, written) = (Array(bytes) + waiting[written...], 0)
        }
    }
    private let state = AsyncCondition(State())
    private let connection: SuspendableConnection
    private let descriptor: CInt?

    /// - Parameter descriptor: the connection's, if the bytes are written to it as they are.
    init(_ connection: SuspendableConnection, unframed descriptor: CInt? = nil) {
        (self.connection, self.descriptor) = (connection, descriptor)
    }

    /// Waits until there is room, then adds the bytes, which become one write where they fit. For one source at a time.
    ///
    /// - Parameter passage: adds them, or decides otherwise; called inside the lock.
    /// - Returns: `false` when the stream has ended, or the passage is closed.
    func send(_ bytes: [UInt8], through passage: @escaping StreamWriter.Passage = { $0() }) async -> Bool {
        let isOpen = await state.wait { state -> Bool? in
            guard !state.isFull || state.hasEnded else { return nil }
            return passage { state.add(bytes) }
        }
        if isOpen { connection.resume() }
        return isOpen
    }

    /// Adds the bytes if there is room for more now. For the same source as ``send(_:)``, and never beside it.
    ///
    /// - Parameter make: called if there is.
    /// - Returns: whether they were added.
    func offer(_ make: () -> [UInt8]) -> Bool {
        guard state.read({ !$0.hasEnded && !$0.isFull }) else { return false }
        let bytes = make()
        guard !bytes.isEmpty else { return true }
        if let isAll = connection.whileSuspended({ write(bytes) }) {
            if !isAll { connection.resume() }
            return true
        }
        let isOpen = state.change { $0.add(bytes) }
        if isOpen { connection.resume() }
        return isOpen
    }

    /// Writes to the socket itself, without waking libmicrohttpd's thread: it has written all that it had when it
    /// suspended the connection, and neither writes to it nor closes it until it is resumed. What the socket does not
    /// take waits as before, and so does everything if the reader is gone.
    ///
    /// - Returns: whether all was written; `nil` if something else comes first.
    private func write(_ bytes: [UInt8]) -> Bool? {
        guard let descriptor, state.read({ $0.waiting.isEmpty && !$0.hasEnded }) else { return nil }
        let count = writeAtOnce(bytes, to: descriptor)
        if count < bytes.count { state.change { $0.putBack(bytes[count...]) } }
        return count == bytes.count
    }

    /// Ends the stream after the waiting bytes are written, with these as its last bytes.
    func end(with last: [UInt8] = []) {
        state.change { state in
            guard !state.hasEnded else { return }
            state.waiting += last
            state.hasEnded = true
        }
        connection.resume()
    }

    /// Ends the stream at once, so that its reader sees that it is not complete.
    func abort() {
        state.change { state in
            guard !state.hasEnded else { return }
            (state.waiting, state.written) = ([], 0)
            (state.hasEnded, state.isBroken) = (true, true)
        }
        connection.resume()
    }

    /// On libmicrohttpd's thread: fills its buffer, or suspends the connection until there is something to write.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if connection.suspend(unless: { state.read { !$0.waiting.isEmpty || $0.hasEnded } }) { return 0 }
        return state.change { state in
            guard !state.waiting.isEmpty else {
                return state.isBroken ? latchkey_http_broken_stream : latchkey_http_end_of_stream
            }
            let piece = state.waiting[state.written...].prefix(buffer.count)
            buffer.copyBytes(from: piece)
            state.written += piece.count
            // Also before all is written: the source may always be ahead of the reader.
            if state.written == state.waiting.count || state.written >= Self.bound {
                state.waiting.removeFirst(state.written)
                if state.waiting.isEmpty, state.waiting.capacity > Self.bound { state.waiting = [] }
                state.written = 0
            }
            return piece.count
        }
    }
}
