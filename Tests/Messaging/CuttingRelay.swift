import Foundation
import Glibc
import Synchronization
import TestSupport

@testable import Messaging

/// The way from a client to a broker on this machine, which can break: a relay of TCP connections on a thread of its
/// own.
final class CuttingRelay: Sendable {
    /// An end of a connection that is planned by what has passed, wherever in a record of TLS that is.
    struct Cut {
        let isOfClient: Bool
        /// How many more bytes pass from that side.
        var bytes: Int
        /// Whether both sides see the end of a stream instead of a reset.
        let isOrderly: Bool
    }

    private struct Pair {
        let client: Int32
        let broker: Int32
        var passed = 0
    }

    private struct State {
        var pairs: [Pair] = []
        /// The first is counted down, whichever connection it meets.
        var cuts: [Cut] = []
        var accepted = 0
        var passed = 0
        var holdsAnswers = false
        var isOver = false
    }

    let address: BrokerAddress
    private let broker: Int
    private let fatal: [UInt8]?
    private let bytesUntilCut: Int
    private let listener: Int32
    private let state = Mutex(State())

    /// - Parameters:
    ///   - fatal: what a client must not say: its connection is reset on the spot.
    ///   - bytesUntilCut: each connection is reset when its client has sent so much.
    init(to broker: BrokerAddress, fatal: String? = nil, bytesUntilCut: Int = .max) throws {
        self.broker = broker.port
        self.fatal = fatal.map { Array($0.utf8) }
        self.bytesUntilCut = bytesUntilCut
        let port = try UnusedPort.reserve()
        address = BrokerAddress(host: "127.0.0.1", port: port)
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var one: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        guard Self.with(port: port, { bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0 else {
            throw POSIXError(.EADDRINUSE)
        }
        Thread.detachNewThread { [self] in carry() }
    }

    /// Connections that were accepted.
    var accepted: Int { state.withLock { $0.accepted } }

    /// How many bytes clients have sent.
    var passed: Int { state.withLock { $0.passed } }

    /// Cuts one connection after the other. Those of earlier plans come first.
    func plan(_ cuts: [Cut]) { state.withLock { $0.cuts += cuts } }

    /// How many planned cuts are still to come.
    var planned: Int { state.withLock { $0.cuts.count } }

    /// Keeps back what the broker says until the next cut.
    func holdAnswers() { state.withLock { $0.holdsAnswers = true } }

    /// Resets all connections, on both sides; later ones pass.
    func cut() {
        state.withLock { state in
            for pair in state.pairs { Self.reset(pair) }
            state.pairs = []
            state.holdsAnswers = false
        }
    }

    func stop() { state.withLock { $0.isOver = true } }

    // MARK: The thread

    private func carry() {
        while true {
            var watched = state.withLock { state -> [pollfd]? in
                guard !state.isOver else { return nil }
                return [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
                    + state.pairs.flatMap { pair in
                        [
                            pollfd(fd: pair.client, events: Int16(POLLIN), revents: 0),
                            pollfd(fd: state.holdsAnswers ? -1 : pair.broker, events: Int16(POLLIN), revents: 0),
                        ]
                    }
            }
            guard watched != nil else { break }
            // Cuts and new orders need no wake-up: they are seen within this time.
            guard poll(&watched!, nfds_t(watched!.count), 5) > 0 else { continue }
            state.withLock { state in
                if watched![0].revents != 0 { accept(&state) }
                state.pairs = state.pairs.compactMap { pair in
                    guard let index = watched!.firstIndex(where: { $0.fd == pair.client }) else { return pair }
                    var pair = pair
                    defer { state.passed += pair.passed }
                    state.passed -= pair.passed
                    let lives =
                        (watched![index].revents == 0 || ask(&pair, &state.cuts))
                        && (watched![index + 1].revents == 0 || answer(pair, &state.cuts))
                    if !lives { Self.reset(pair) }
                    return lives ? pair : nil
                }
            }
        }
        cut()
        close(listener)
    }

    private func accept(_ state: inout State) {
        let client = Glibc.accept(listener, nil, nil)
        guard client >= 0 else { return }
        state.accepted += 1
        let broker = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard Self.with(port: self.broker, { connect(broker, $0, $1) }) == 0 else {
            return Self.reset(Pair(client: client, broker: broker))
        }
        state.pairs.append(Pair(client: client, broker: broker))
    }

    /// Passes on what a client says.
    ///
    /// - Returns: whether the connection lives.
    private func ask(_ pair: inout Pair, _ cuts: inout [Cut]) -> Bool {
        let limit = min(1 << 16, bytesUntilCut - pair.passed, Self.room(ofClient: true, cuts))
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = read(pair.client, &bytes, bytes.count)
        guard count > 0 else { return false }
        if let fatal, bytes[..<count].firstRange(of: fatal) != nil { return false }
        pair.passed += count
        return send(pair.broker, bytes, count, Int32(MSG_NOSIGNAL)) == count && pair.passed < bytesUntilCut
            && !Self.spend(count, ofClient: true, of: pair, &cuts)
    }

    private func answer(_ pair: Pair, _ cuts: inout [Cut]) -> Bool {
        var bytes = [UInt8](repeating: 0, count: min(1 << 16, Self.room(ofClient: false, cuts)))
        let count = read(pair.broker, &bytes, bytes.count)
        return count > 0 && send(pair.client, bytes, count, Int32(MSG_NOSIGNAL)) == count
            && !Self.spend(count, ofClient: false, of: pair, &cuts)
    }

    /// How many bytes of one side pass before the first cut.
    private static func room(ofClient isOfClient: Bool, _ cuts: [Cut]) -> Int {
        cuts.first.map { $0.isOfClient == isOfClient ? $0.bytes : .max } ?? .max
    }

    /// Counts bytes that have passed.
    ///
    /// - Returns: whether the connection is to end now.
    private static func spend(_ count: Int, ofClient isOfClient: Bool, of pair: Pair, _ cuts: inout [Cut]) -> Bool {
        guard cuts.first?.isOfClient == isOfClient else { return false }
        cuts[0].bytes -= count
        guard cuts[0].bytes <= 0 else { return false }
        if cuts.removeFirst().isOrderly {
            // Before the reset, which they no longer hear.
            for descriptor in [pair.client, pair.broker] { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
        return true
    }

    private static func reset(_ pair: Pair) {
        var abort = linger(l_onoff: 1, l_linger: 0)
        for descriptor in [pair.client, pair.broker] {
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abort, socklen_t(MemoryLayout<linger>.size))
            close(descriptor)
        }
    }

    private static func with(port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = in_port_t(port).bigEndian
        name.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
