import Glibc

/// Carries what the library writes to its end of a pair of sockets over WebSocket, and back. It has no thread: the
/// caller waits for the library's end, and has it ``work()`` whenever one of the ``descriptors`` is ready. What it holds
/// is bounded by a piece in each direction.
final class WebSocketRelay {
    /// How much is carried at once, in bytes.
    private static let piece = 16_384
    /// How many pieces before others get their turn.
    private static let turns = 32

    private let wire: Wire
    /// The library's end, until it is closed after ``closeLibraryEnd()``, and ours.
    private(set) var libraryEnd: Int32
    private let end: Int32
    /// The socket towards the broker or the proxy.
    var socket: Int32 { wire.socket }
    private var reader = WebSocketReader()
    /// Frames for the broker, and bytes for the library.
    private var outgoing: [UInt8] = []
    private var incoming: [UInt8] = []
    /// What the wire has to be ready for.
    private var readEvents = POLLIN
    private var writeEvents = POLLOUT
    private var libraryHasEnded = false
    private var hasFinished = false
    private var space = [UInt8](repeating: 0, count: piece)
    /// How the broker ended it.
    private(set) var ending: Wire.End?
    /// Whether there is more to do though no descriptor becomes ready.
    private(set) var isUnfinished = false

    /// - Returns: `nil` when there are no descriptors left.
    init?(_ wire: Wire) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        (self.wire, libraryEnd, end) = (wire, ends[0], ends[1])
    }

    deinit {
        closeLibraryEnd()
        close(end)
    }

    /// The library has a copy.
    func closeLibraryEnd() {
        if libraryEnd >= 0 { close(libraryEnd) }
        libraryEnd = -1
    }

    /// What to wait for.
    var descriptors: [pollfd] {
        var atWire: Int32 = outgoing.isEmpty ? 0 : writeEvents
        if mayRead { atWire |= readEvents }
        if ending != nil { atWire = 0 }
        var atEnd: Int32 = incoming.isEmpty ? 0 : POLLOUT
        if mayTake { atEnd |= POLLIN }
        // Without anything to wait for, an end would be reported again and again.
        return [
            pollfd(fd: atWire == 0 ? -1 : wire.socket, events: Int16(atWire), revents: 0),
            pollfd(fd: atEnd == 0 ? -1 : end, events: Int16(atEnd), revents: 0),
        ]
    }

    private var mayRead: Bool { ending == nil && incoming.isEmpty && outgoing.count < 2 * Self.piece }
    private var mayTake: Bool { ending == nil && !libraryHasEnded && outgoing.isEmpty }

    /// Carries what can be carried without waiting.
    func work() {
        for _ in 0..<Self.turns {
            var hasMoved = false
            if mayTake { hasMoved = takeFromLibrary() || hasMoved }
            if !outgoing.isEmpty, ending == nil { hasMoved = send() || hasMoved }
            if mayRead { hasMoved = receive() || hasMoved }
            if !incoming.isEmpty { hasMoved = giveToLibrary() || hasMoved }
            guard hasMoved else {
                isUnfinished = false
                return
            }
        }
        isUnfinished = true
    }

    private func takeFromLibrary() -> Bool {
        let count = recv(end, &space, space.count, 0)
        if count > 0 {
            append(.binary, space[..<count])
        } else if count == 0 || errno != EAGAIN && errno != EINTR {
            libraryHasEnded = true
            // 1000: it has served its purpose (RFC 6455 section 7.4.1).
            append(.close, [0x03, 0xE8])
        } else {
            return false
        }
        return true
    }

    private func append(_ kind: WebSocketWriter.Kind, _ payload: some Collection<UInt8>) {
        WebSocketWriter.append(kind, payload, mask: .random(in: .min ... .max), to: &outgoing)
    }

    private func send() -> Bool {
        switch outgoing.withUnsafeBytes(wire.write) {
        case .bytes(let count):
            outgoing.removeFirst(count)
            writeEvents = POLLOUT
            if libraryHasEnded, outgoing.isEmpty, !hasFinished {
                hasFinished = true
                wire.finish()
            }
            return true
        case .waits(let events):
            writeEvents = events
            return false
        case .ended(let reason):
            // What has arrived before is still worth reading, and says more.
            outgoing = []
            libraryHasEnded = true
            if !mayRead || !receive() { finish(reason) }
            return true
        }
    }

    private func receive() -> Bool {
        switch space.withUnsafeMutableBytes(wire.read) {
        case .bytes(let count):
            readEvents = POLLIN
            take(space[..<count])
            return true
        case .waits(let events):
            readEvents = events
            return false
        case .ended(let reason):
            finish(reason)
            return true
        }
    }

    private func take(_ bytes: ArraySlice<UInt8>) {
        do throws(WebSocketReader.Fault) {
            for control in try reader.read(bytes, into: &incoming) {
                switch control {
                case .ping(let content): if !libraryHasEnded { append(.pong, content) }
                case .close(let code):
                    let why = code.map { $0 == 1000 ? "" : " with WebSocket code \($0)" } ?? ""
                    finish(Wire.End(reason: "the broker closed it\(why)"))
                }
            }
        } catch {
            finish(Wire.End(reason: error.reason))
        }
    }

    /// The library sees the end after what has arrived before it.
    private func finish(_ reason: Wire.End) {
        ending = ending ?? reason
        if incoming.isEmpty { shutdown(end, Int32(SHUT_WR)) }
    }

    private func giveToLibrary() -> Bool {
        let count = Glibc.send(end, incoming, incoming.count, Int32(MSG_NOSIGNAL))
        if count < 0, errno == EAGAIN || errno == EINTR { return false }
        // A library that has closed its end reads nothing more.
        incoming.removeFirst(count < 0 ? incoming.count : count)
        if incoming.isEmpty, ending != nil { shutdown(end, Int32(SHUT_WR)) }
        return true
    }
}
