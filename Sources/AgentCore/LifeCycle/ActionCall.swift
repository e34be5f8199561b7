import Glibc
import Groundwork
import Synchronization

/// One connection to the runner of actions, on a thread that ends with it: a command may take an hour.
package final class ActionCall: Sendable {
    /// The most bytes of an answer.
    package static let answerLimit = 256 << 10

    private let descriptor: CInt

    /// Connects; systemd starts the runner for it.
    ///
    /// - Throws: ``Fault`` with the reason.
    package init(_ path: String) throws(Fault) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array(path.utf8)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { throw Fault("the path is too long") }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // A full queue of a socket from which no program accepts must not hold up the caller.
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw Fault("\(String(cString: strerror(errno)))") }
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        let code = errno
        guard status == 0, fcntl(descriptor, F_SETFL, 0) == 0 else {
            throw Fault("\(path): \(String(cString: strerror(code)))")
        }
    }

    deinit { close(descriptor) }

    package struct Fault: Error, Equatable {
        package let reason: String
        package init(_ reason: String) { self.reason = reason }
    }

    /// Sends the request, and reads until the runner closes. A canceled task hangs up, and the runner ends the command.
    ///
    /// - Parameter patience: how long it may take to say anything.
    /// - Returns: at most ``answerLimit`` bytes; what came before a break.
    package func exchange(_ request: [UInt8], patience: Duration) async -> [UInt8] {
        var time = timeval(tv_sec: time_t(patience.components.seconds), tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let work = Work(call: self, request: request, continuation: continuation)
                var thread = pthread_t()
                let argument = Unmanaged.passRetained(work)
                let status = pthread_create(
                    &thread, nil,
                    { argument in
                        CurrentThread.setName("action")
                        Unmanaged<Work>.fromOpaque(argument!).takeRetainedValue().run()
                        return nil
                    }, argument.toOpaque())
                if status == 0 {
                    pthread_detach(thread)
                } else {
                    argument.release()
                    continuation.resume(returning: [])
                }
            }
        } onCancel: {
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }

    private final class Work: Sendable {
        let call: ActionCall
        let request: [UInt8]
        let continuation: CheckedContinuation<[UInt8], Never>

        init(call: ActionCall, request: [UInt8], continuation: CheckedContinuation<[UInt8], Never>) {
            self.call = call
            self.request = request
            self.continuation = continuation
        }

        func run() { continuation.resume(returning: call.send(request) ? call.receive() : []) }
    }

    private func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private func receive() -> [UInt8] {
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16_384)
        while answer.count <= Self.answerLimit {
            let count = recv(descriptor, &piece, piece.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            answer += piece[..<count]
        }
        return answer
    }
}
