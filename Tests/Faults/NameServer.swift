import Foundation
import Glibc
import Synchronization
import TestSupport

/// A name server that knows one address for every name, and can fall silent (RFC 1035 section 4).
final class NameServer: Sendable {
    private struct State {
        var isSilent = false
        var isOver = false
        var questions = 0
    }
    private let state = Mutex(State())

    /// Listens inside the namespace, at its address.
    init(in namespace: Namespace) throws {
        let address = namespace.address
        let descriptor = try namespace.inside {
            try Socket.bound(to: address, port: 53, type: Int32(SOCK_DGRAM.rawValue))
        }
        // It looks twice a second whether it is to end.
        var pause = timeval(tv_sec: 0, tv_usec: 500_000)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &pause, socklen_t(MemoryLayout<timeval>.size))
        guard fcntl(descriptor, F_SETFL, 0) == 0 else { throw Unexpected.system("a name server") }
        let isIPv6 = namespace.isIPv6Only
        Thread.detachNewThread { self.serve(descriptor, isIPv6: isIPv6) }
    }

    var questions: Int { state.withLock { $0.questions } }
    var isSilent: Bool {
        get { state.withLock { $0.isSilent } }
        set { state.withLock { $0.isSilent = newValue } }
    }

    func stop() { state.withLock { $0.isOver = true } }

    private func serve(_ descriptor: Int32, isIPv6: Bool) {
        var question = [UInt8](repeating: 0, count: 512)
        while !state.withLock({ $0.isOver }) {
            var sender = sockaddr_storage()
            var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
            withUnsafeMutablePointer(to: &sender) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { sender in
                    let count = recvfrom(descriptor, &question, question.count, 0, sender, &size)
                    guard count > 0 else { return }
                    let isSilent = state.withLock { state in
                        state.questions += 1
                        return state.isSilent
                    }
                    guard !isSilent, let answer = Self.answer(Array(question[..<count]), isIPv6: isIPv6) else { return }
                    sendto(descriptor, answer, answer.count, 0, sender, size)
                }
            }
        }
        close(descriptor)
    }

    private static func answer(_ question: [UInt8], isIPv6: Bool) -> [UInt8]? {
        // The header, a name that ends with an empty label, a type and a class.
        guard question.count > 16, let end = question[12...].firstIndex(of: 0), question.count >= end + 5 else {
            return nil
        }
        let type = Int(question[end + 1]) << 8 | Int(question[end + 2])
        let isKnown = type == (isIPv6 ? 28 : 1)
        var answer =
            Array(question[..<2]) + [0x84, 0x00, 0, 1, 0, isKnown ? 1 : 0, 0, 0, 0, 0] + question[12..<(end + 5)]
        if isKnown {
            var address = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
            inet_pton(isIPv6 ? AF_INET6 : AF_INET, isIPv6 ? Namespace.address6 : Namespace.address4, &address)
            // The name of the question, its type and class, no time to live, so that nobody keeps it.
            answer += [0xC0, 12, 0, UInt8(type), 0, 1, 0, 0, 0, 0, 0, UInt8(address.count)] + address
        }
        return answer
    }
}
