import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    @Suite("A lab that stops", .timeLimit(.minutes(1)))
    struct StopTests {
        @Test("closes the connections that it accepts meanwhile, and can start again")
        func acceptedDuringStop() async throws {
            try await Workshop.open { shop in
                for _ in 1...10 {
                    let visitors = Visitors(port: shop.lab.port)
                    await visitors.haveCome(20)
                    await shop.lab.suspend()
                    let connections = await visitors.refused()
                    #expect(!connections.isEmpty)
                    #expect(connections.allSatisfy(Visitors.isClosedByServer))
                    for connection in connections { close(connection) }
                    try await shop.lab.resume()
                }
            }
        }
    }
}

/// A thread that connects again and again until it is refused.
private final class Visitors: Sendable {
    private struct State {
        var connections: [Int32] = []
        var count = 0
        var isRefused = false
    }
    private let state = AsyncCondition(State())
    /// The newest connections that are kept open.
    private static let limit = 200

    init(port: Int) {
        Thread.detachNewThread { [state] in
            while let connection = Self.connection(to: UInt16(port)) {
                let oldest = state.change { state -> Int32? in
                    state.connections.append(connection)
                    state.count += 1
                    return state.connections.count > Self.limit ? state.connections.removeFirst() : nil
                }
                if let oldest { close(oldest) }
            }
            state.change { $0.isRefused = true }
        }
    }

    func haveCome(_ count: Int) async { await state.wait { $0.count >= count || $0.isRefused ? () : nil } }

    /// The connections that were made, once there is no server any more.
    func refused() async -> [Int32] { await state.wait { $0.isRefused ? $0.connections : nil } }

    /// Whether the server has closed or reset a connection: it says nothing of its own accord.
    static func isClosedByServer(_ connection: Int32) -> Bool {
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var byte: UInt8 = 0
        return recv(connection, &byte, 1, 0) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK)
    }

    private static func connection(to port: UInt16) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
