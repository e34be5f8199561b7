import Foundation
import Synchronization

/// A client that writes whatever bytes it is told to, and reads whatever comes.
///
/// Its calls block, so each runs on a thread of its own: the server's handlers need the threads that run the tests.
final class RawClient: Sendable {
    struct Failure: Error {
        let call: String
        let error = errno
    }

    private struct State {
        var unread: [UInt8] = []
        var isClosed = false
    }
    private let descriptor: Int32
    private let state = Mutex(State())

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw Failure(call: "connect") }
        limitWaiting()
    }

    /// Connects to a port of this machine.
    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Failure(call: "connect") }
        limitWaiting()
    }

    private func limitWaiting() {
        // No test waits longer for anything.
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close() }

    func close() {
        state.withLock { state in
            if !state.isClosed { Glibc.close(descriptor) }
            state.isClosed = true
        }
    }

    /// Says all it wants, and reads on.
    func closeWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

    func write(_ text: String) async throws { try await write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) async throws {
        try await Self.blocking { [descriptor] in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard count > 0 else { throw Failure(call: "send") }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Connects, writes a beginning, then a byte again and again, until there is something to read or the server has
    /// closed. All on one thread, so that it keeps its pace when the tests' threads are busy.
    ///
    /// - Returns: how many bytes followed the beginning, and how long it took.
    static func trickling(
        to path: String, after beginning: String, every pause: Duration
    ) async throws -> (client: RawClient, bytes: Int, Duration) {
        try await blocking {
            let start = ContinuousClock.now
            let client = try RawClient(path)
            var bytes = 0
            send(client.descriptor, beginning, beginning.utf8.count, Int32(MSG_NOSIGNAL))
            while !isReadable(client.descriptor, within: pause),
                send(client.descriptor, "a", 1, Int32(MSG_NOSIGNAL)) == 1
            {
                bytes += 1
            }
            return (client, bytes, start.duration(to: .now))
        }
    }

    /// Waits for readable bytes, or for the end, but no longer than the limit.
    func isReadable(within limit: Duration) async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [descriptor] in
                continuation.resume(returning: Self.isReadable(descriptor, within: limit))
            }
        }
    }

    private static func isReadable(_ descriptor: Int32, within limit: Duration) -> Bool {
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let milliseconds = Int32(limit.components.seconds * 1000 + limit.components.attoseconds / 1_000_000_000_000_000)
        return poll(&state, 1, milliseconds) == 1
    }

    /// Everything until the server closes.
    func rest() async throws -> String {
        var all = state.withLock { state in
            defer { state.unread = [] }
            return state.unread
        }
        while let piece = try await piece() { all += piece }
        return String(decoding: all, as: UTF8.self)
    }

    /// Everything up to the first occurrence of a text, and it.
    func text(through end: String) async throws -> String {
        while true {
            let found: [UInt8]? = state.withLock { state in
                guard let range = state.unread.firstRange(of: Array(end.utf8)) else { return nil }
                defer { state.unread.removeFirst(range.upperBound) }
                return Array(state.unread[..<range.upperBound])
            }
            if let found { return String(decoding: found, as: UTF8.self) }
            guard let piece = try await piece() else { throw Failure(call: "end before \(end.debugDescription)") }
            state.withLock { $0.unread += piece }
        }
    }

    /// One answer of known length, on a connection that stays open.
    func answer() async throws -> RawResponse {
        let head = try await text(through: "\r\n\r\n")
        var response = RawResponse(head)
        let length = response.headers["content-length"].flatMap { Int($0) } ?? 0
        while state.withLock({ $0.unread.count }) < length {
            guard let piece = try await piece() else { throw Failure(call: "end within a body") }
            state.withLock { $0.unread += piece }
        }
        response.body = state.withLock { state in
            defer { state.unread.removeFirst(length) }
            return Array(state.unread.prefix(length))
        }
        return response
    }

    /// - Returns: `nil` at the end. A reset is one too: the kernel says so when the server left something unread.
    private func piece() async throws -> [UInt8]? {
        try await Self.blocking { [descriptor] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 || (count < 0 && errno == ECONNRESET) { return nil }
            guard count > 0 else { throw Failure(call: "recv") }
            return Array(buffer.prefix(count))
        }
    }

    private static func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }
}
