import Foundation
import Glibc
import TestSupport

/// The status as the local API gives it, asked for without a program.
enum LocalStatus {
    static func read(_ path: String) throws -> BoardStatus {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Unexpected.system("a socket") }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw Unexpected.system("connect to \(path)") }
        let request = "GET /v1/status HTTP/1.0\r\nHost: localhost\r\n\r\n"
        guard send(descriptor, request, request.utf8.count, Int32(MSG_NOSIGNAL)) == request.utf8.count else {
            throw Unexpected.system("send to \(path)")
        }
        var answer = Data()
        var piece = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(descriptor, &piece, piece.count)
            guard count > 0 else { break }
            answer += piece[..<count]
        }
        guard let head = answer.range(of: Data("\r\n\r\n".utf8)) else {
            throw Unexpected("no status: \(String(decoding: answer, as: UTF8.self))")
        }
        return try JSONDecoder().decode(BoardStatus.self, from: answer[head.upperBound...])
    }
}
