import Foundation
import Groundwork
import Testing

@testable import GatewayLab

extension GatewayLabTests {
    @Suite("A lab that stops", .timeLimit(.minutes(5)))
    struct StopTests {
        @Test("a stopping lab closes the connections that it accepts meanwhile, and can start again")
        func acceptedDuringStop() async throws {
            try await Workshop.open { shop in
                for _ in 1...10 {
                    let port = UInt16(shop.lab.port)
                    let visitors = Visitors { Visitors.connection(to: port) }
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

        @Test("a lab's ports stay its own while its gateway is suspended and its broker is stopped")
        func ports() async throws {
            try await Workshop.open({ $0.broker = true }) { shop in
                await shop.lab.suspend()
                await shop.lab.stopBroker()
                for port in [shop.lab.port, try #require(shop.lab.brokerPort)] { #expect(!Visitors.isFree(port)) }
            }
        }

        @Test("a stopping lab closes the connections that its broker makes while the gate closes")
        func gateAcceptedDuringStop() async throws {
            try await Workshop.open { shop in
                let gate = BrokerGate(store: shop.lab.store, journal: shop.lab.journal)
                let path = shop.directory + "/gate"
                for _ in 1...10 {
                    let (ready, isReady) = AsyncStream<Void>.makeStream()
                    let serving = Task {
                        try await BrokerGateSocket.serve(gate, at: path) { isReady.finish() }
                    }
                    for await _ in ready {}
                    let visitors = Visitors { Visitors.connection(to: path) }
                    await visitors.haveCome(20)
                    serving.cancel()
                    try await serving.value
                    let connections = await visitors.refused()
                    #expect(!connections.isEmpty)
                    #expect(connections.allSatisfy(Visitors.isClosedByServer))
                    for connection in connections { close(connection) }
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

    /// - Parameter connect: returns `nil` once it is refused.
    init(_ connect: @escaping @Sendable () -> Int32?) {
        Thread.detachNewThread { [state] in
            while let connection = connect() {
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
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var byte: UInt8 = 0
        return recv(connection, &byte, 1, 0) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK)
    }

    /// Whether another program that has the system choose its port could get this one.
    static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        return withUnsafePointer(to: address(of: UInt16(port))) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    static func connection(to port: UInt16) -> Int32? { connection(AF_INET, address(of: port)) }

    private static func address(of port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }

    static func connection(to path: String) -> Int32? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return connection(AF_UNIX, address)
    }

    private static func connection<Address>(_ family: Int32, _ address: Address) -> Int32? {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard status == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
