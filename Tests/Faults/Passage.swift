import Foundation
import Glibc
import Synchronization
import TestSupport

/// The way from a board to a server on this machine, which can go bad as networks do: a relay of TCP connections that
/// listens where the board looks for the server.
///
/// One thread carries everything; what its descriptors are is the state's, under its lock.
final class Passage: Sendable {
    enum Manner: Sendable, Equatable {
        case open
        /// Nobody listens, and connections have ended: the server is down.
        case refusing
        /// What is sent vanishes, as in a black hole or behind a cut cable: not even TCP is answered.
        case silent
        /// Connections are accepted and never answered: the server hangs.
        case mute
        /// Every connection is answered with this, whatever it asks, and closed.
        case answering(String)
    }

    private struct Link {
        let client: Int32
        /// Negative when the connection leads nowhere any more, which its client may not know.
        var server: Int32
        var toServer: [UInt8] = []
        var toClient: [UInt8] = []
    }

    private struct State {
        var manner = Manner.open
        var listener: Int32 = -1
        var links: [Link] = []
        var accepted = 0
        var port: Int
        var isOver = false
    }

    private let state: Mutex<State>
    private let address: String
    private let listens: Int
    private let namespace: Namespace?
    private let wake: (read: Int32, write: Int32)

    /// - Parameters:
    ///   - port: of the server on loopback, and of this on `address`.
    ///   - namespace: where the address is; `nil` is here.
    init(to port: Int, at address: String, in namespace: Namespace? = nil) throws {
        self.address = address
        self.namespace = namespace
        listens = port
        state = Mutex(State(port: port))
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Socket.flags, 0, &ends) == 0 else {
            throw Unexpected.system("a pair of sockets")
        }
        wake = (ends[0], ends[1])
        try become(.open)
        Thread.detachNewThread { self.carry() }
    }

    /// Connections that were accepted.
    var accepted: Int { state.withLock { $0.accepted } }

    // MARK: What a test does to it

    func become(_ manner: Manner) throws {
        try state.withLock { state in
            let isFrozen = state.manner == .silent || state.manner == .mute
            state.manner = manner
            switch manner {
            case .refusing:
                Self.end(&state)
                Self.close(&state.listener)
            case .silent, .mute:
                for index in state.links.indices {
                    Self.close(&state.links[index].server)
                    if manner == .silent { Socket.drop(state.links[index].client) }
                }
                try listen(&state)
                if manner == .silent { Socket.drop(state.listener) }
            case .open, .answering:
                // What was frozen has gone for the other side: who speaks on it is told so by TCP.
                if isFrozen {
                    Self.forget(&state)
                    Self.close(&state.listener)
                }
                try listen(&state)
            }
        }
        signal()
    }

    /// Leads new connections to another server on loopback.
    func lead(to port: Int) {
        state.withLock { $0.port = port }
        cut()
    }

    /// Ends all connections as a server does that closes them.
    func cut() {
        state.withLock { Self.end(&$0) }
        signal()
    }

    /// Loses all connections without a word, as a machine does that was switched off and on again.
    func forget() {
        state.withLock { Self.forget(&$0) }
        signal()
    }

    func stop() {
        state.withLock { state in
            state.isOver = true
            Self.end(&state)
            Self.close(&state.listener)
        }
        signal()
    }

    private func listen(_ state: inout State) throws {
        guard state.listener < 0 else { return }
        state.listener =
            try namespace.map { namespace in
                try namespace.inside { [address, listens] in try Socket.listen(at: address, port: listens) }
            } ?? Socket.listen(at: address, port: listens)
    }

    private func signal() {
        var byte: UInt8 = 0
        _ = write(wake.write, &byte, 1)
    }

    private static func end(_ state: inout State) {
        for var link in state.links {
            Glibc.close(link.client)
            close(&link.server)
        }
        state.links = []
    }

    private static func forget(_ state: inout State) {
        for var link in state.links {
            Socket.forget(link.client)
            close(&link.server)
        }
        state.links = []
    }

    private static func close(_ descriptor: inout Int32) {
        if descriptor >= 0 {
            // The thread may be waiting for it, which keeps it open: its port has to be free at once.
            shutdown(descriptor, Int32(SHUT_RDWR))
            Glibc.close(descriptor)
        }
        descriptor = -1
    }

    // MARK: The thread

    private func carry() {
        while true {
            guard var watched = state.withLock({ state in state.isOver ? nil : watched(state) }) else { break }
            poll(&watched, nfds_t(watched.count), -1)
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(wake.read, &bytes, bytes.count) > 0 {}
            state.withLock { state in
                if state.manner != .silent { accept(&state) }
                state.links = state.links.filter { link in
                    var link = link
                    let lives = pass(&link, state.manner)
                    if !lives {
                        Glibc.close(link.client)
                        Self.close(&link.server)
                    }
                    return lives
                }
            }
        }
        Glibc.close(wake.read)
        Glibc.close(wake.write)
    }

    /// Frozen connections are not looked at: their clients' hanging up would wake for nothing.
    private func watched(_ state: State) -> [pollfd] {
        var result = [pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0)]
        if state.manner != .silent { result.append(pollfd(fd: state.listener, events: Int16(POLLIN), revents: 0)) }
        for link in state.links {
            if case .answering = state.manner {
                result.append(pollfd(fd: link.client, events: Int16(POLLIN), revents: 0))
            }
            guard link.server >= 0 else { continue }
            result.append(Self.watched(link.client, reads: link.toServer.isEmpty, writes: !link.toClient.isEmpty))
            result.append(Self.watched(link.server, reads: link.toClient.isEmpty, writes: !link.toServer.isEmpty))
        }
        return result
    }

    private static func watched(_ descriptor: Int32, reads: Bool, writes: Bool) -> pollfd {
        pollfd(fd: descriptor, events: Int16((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), revents: 0)
    }

    private func accept(_ state: inout State) {
        while state.listener >= 0 {
            let client = Socket.accept(state.listener)
            guard client >= 0 else { return }
            state.accepted += 1
            switch state.manner {
            case .open:
                // Where the server itself is gone, so is the client.
                if let server = Socket.connect(to: state.port) {
                    state.links.append(Link(client: client, server: server))
                } else {
                    Glibc.close(client)
                }
            default: state.links.append(Link(client: client, server: -1))
            }
        }
    }

    /// - Returns: whether the connection lives.
    private func pass(_ link: inout Link, _ manner: Manner) -> Bool {
        if case .answering(let text) = manner {
            var bytes = [UInt8](repeating: 0, count: 4096)
            guard read(link.client, &bytes, bytes.count) != -1 else { return true }
            _ = text.withCString { send(link.client, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
            return false
        }
        guard link.server >= 0 else { return true }
        return Socket.pass(link.client, link.server, &link.toServer)
            && Socket.pass(link.server, link.client, &link.toClient)
    }
}

extension Unexpected {
    static func system(_ what: String) -> Unexpected { Unexpected("\(what): \(String(cString: strerror(errno)))") }
}
