import Foundation
import Glibc
import TestSupport

/// A network of its own for a board, with addresses and a name server that the test decides on.
final class Namespace: Sendable {
    /// Where servers are, and the name server.
    static let address4 = "192.0.2.1"
    static let address6 = "2001:db8::1"

    let name = "lk-\(UInt32.random(in: .min ... .max))"
    let isIPv6Only: Bool
    var address: String { isIPv6Only ? Self.address6 : Self.address4 }
    private var files: URL { URL(filePath: "/etc/netns/\(name)") }

    init(isIPv6Only: Bool) async throws {
        self.isIPv6Only = isIPv6Only
        try await ip("netns", "add", name)
        do {
            try await ip("-n", name, "link", "set", "lo", "up")
            if isIPv6Only {
                try await ip("-n", name, "-4", "address", "flush", "dev", "lo")
                try await ip("-n", name, "-6", "address", "add", "\(Self.address6)/128", "dev", "lo", "nodad")
            } else {
                try await ip("-n", name, "address", "add", "\(Self.address4)/32", "dev", "lo")
            }
            // Bound over the system's file by ip-netns(8) for what runs inside.
            try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
            try "nameserver \(address)\noptions timeout:1 attempts:2\n"
                .write(to: files.appending(path: "resolv.conf"), atomically: true, encoding: .utf8)
        } catch {
            try await remove()
            throw error
        }
    }

    func remove() async throws {
        try? FileManager.default.removeItem(at: files)
        try await ip("netns", "delete", name)
    }

    /// What has a program run inside.
    var launcher: [String] { ["/usr/sbin/ip", "netns", "exec", name] }

    private func ip(_ arguments: String...) async throws {
        let result = try await Program(url: URL(filePath: "/usr/sbin/ip")).run(arguments)
        guard result.status == 0 else { throw Unexpected("ip \(arguments.joined(separator: " ")): \(result.errors)") }
    }

    /// Runs `body` on a thread that is inside; the sockets it makes stay there.
    func inside(_ body: @escaping () throws -> Int32) throws -> Int32 {
        // `nonisolated(unsafe)` is correct because the semaphore orders the thread's only use of these before this
        // function's.
        nonisolated(unsafe) let body = body
        nonisolated(unsafe) var result: Result<Int32, any Error> = .failure(Unexpected("nothing was done"))
        let isDone = DispatchSemaphore(value: 0)
        let path = "/run/netns/\(name)"
        Thread.detachNewThread {
            let network = open(path, O_RDONLY | O_CLOEXEC)
            result = Result {
                guard network >= 0, Socket.enter(network: network) else { throw Unexpected.system("enter \(path)") }
                return try body()
            }
            close(network)
            isDone.signal()
        }
        isDone.wait()
        return try result.get()
    }
}
