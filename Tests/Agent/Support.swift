import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// A folder of its own for a test, removed afterwards.
func withFolder<Value>(_ body: (String) throws -> Value) throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(path: "agent-\(UUID().uuidString.prefix(8))").path
    try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
}

func withFolder<Value>(isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Value)
    async throws -> Value
{
    let folder = FileManager.default.temporaryDirectory.appending(path: "agent-\(UUID().uuidString.prefix(8))").path
    try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}

/// The receiving end of a Unix datagram socket, in the place of systemd or the journal.
final class DatagramReceiver {
    private let descriptor: Int32

    /// - Parameter path: a path, or `@name` for the abstract name space.
    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        if path.hasPrefix("@") { name[0] = 0 } else { name.append(0) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let bound = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        try #require(bound == 0)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// The next datagram, which was sent already or is sent by a thread that is not of the tasks' pool.
    func bytes() throws -> [UInt8] { try Self.bytes(from: descriptor) }

    private static func bytes(from descriptor: Int32) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        try #require(count >= 0, "no datagram came")
        return Array(buffer[..<count])
    }

    func text() throws -> String { String(decoding: try bytes(), as: UTF8.self) }

    /// The next datagram, which a task sends: the wait takes no thread from it.
    func textOfTask() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [descriptor] in
                continuation.resume(
                    with: Result { String(decoding: try Self.bytes(from: descriptor), as: UTF8.self) })
            }
        }
    }

    var isEmpty: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0
    }
}

/// What happened, in order, from whichever task.
final class Record<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    func add(_ element: Element) { elements.withLock { $0.append(element) } }
    var all: [Element] { elements.withLock { $0 } }
}
