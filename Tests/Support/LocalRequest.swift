import Foundation
import Glibc

/// One request to the local API from this process, for what depends on its moment.
package final class LocalRequest: Sendable {
    private let descriptor: Int32
    private let path: String

    /// - Returns: the status of the answer.
    package static func post(_ body: String, to path: String, socket: String) async throws -> Int {
        try await LocalRequest(posting: body, to: path, socket: socket).status()
    }

    /// Sends it, and does not wait for the answer.
    package init(posting body: String, to path: String, socket: String) throws {
        self.path = path
        descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Unexpected("no socket: \(String(cString: strerror(errno)))") }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.utf8.prefix($0.count - 1)) }
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw Unexpected("cannot connect to \(socket): \(String(cString: strerror(errno)))") }

        let request = """
            POST \(path) HTTP/1.1\r
            Host: localhost\r
            Connection: close\r
            Content-Length: \(body.utf8.count)\r
            \r
            \(body)
            """
        guard send(descriptor, request, request.utf8.count, Int32(MSG_NOSIGNAL)) == request.utf8.count else {
            throw Unexpected("cannot send to \(socket): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Waits for the answer, on a thread of its own: the agent may need the tests' threads for it, as it needs a
    /// broker that asks the lab.
    package func status() async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { [self] in continuation.resume(with: Result { try read() }) }
        }
    }

    private func read() throws -> Int {
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            guard count > 0 else { break }
            answer += piece[..<count]
        }
        let head = String(decoding: answer, as: UTF8.self).split(separator: " ", maxSplits: 2)
        guard head.count == 3, let code = Int(head[1]) else { throw Unexpected("no answer to POST \(path)") }
        return code
    }
}
