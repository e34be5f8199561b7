import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL

/// A listening HTTP/1.1 server over Hummingbird, with TLS or without, that can be stopped at once.
final class HTTPListener: Sendable {
    let port: Int
    private let connections: Connections
    private let running: Task<Void, Never>

    private init(port: Int, connections: Connections, running: Task<Void, Never>) {
        self.port = port
        self.connections = connections
        self.running = running
    }

    /// - Parameter tls: `nil` for plain HTTP.
    /// - Throws: `LabError.cannotListen`
    static func start<Responder: HTTPResponder>(
        _ responder: Responder, address: String, port: Int, tls: TLSChannelConfiguration?, connections: Connections,
        logger: Logger
    ) async throws -> HTTPListener where Responder.Context == ConnectionContext {
        var logger = logger
        // Below that it reports every server that is stopped as an error.
        logger.logLevel = .critical
        // A connection that says nothing for two minutes is closed.
        let http = HTTPServerBuilder.http1(
            configuration: .init(additionalChannelHandlers: [connections.tracker()], idleTimeout: .seconds(120)))
        let (ports, portFound) = AsyncThrowingStream<Int, any Error>.makeStream()
        let application = Application(
            responder: responder, server: try tls.map { try .tls(http, configuration: $0) } ?? http,
            configuration: .init(address: .hostname(address, port: port)),
            onServerRunning: { channel in portFound.yield(channel.localAddress?.port ?? port) }, logger: logger)
        let running = Task {
            do {
                try await application.run()
                portFound.finish()
            } catch {
                portFound.finish(throwing: error)
            }
        }
        do {
            for try await found in ports {
                return HTTPListener(port: found, connections: connections, running: running)
            }
            throw LabError.cannotListen(address: address, port: port, reason: "it stopped at once")
        } catch let error as LabError {
            throw error
        } catch {
            throw LabError.cannotListen(address: address, port: port, error)
        }
    }

    /// Closes the port and every connection. Returns when both are closed.
    func stop() async {
        running.cancel()
        await connections.closeAll()
        await running.value
    }
}

extension LabError {
    /// - Parameter error: why a port could not be bound.
    static func cannotListen(address: String, port: Int, _ error: any Error) -> LabError {
        let reason =
            switch (error as? IOError)?.errnoCode {
            case EADDRINUSE: Self.portTaken
            case EADDRNOTAVAIL: "this machine does not have that address"
            case EACCES: "only root may use that port"
            default: "\(error)"
            }
        return .cannotListen(address: address, port: port, reason: reason)
    }

    static let portTaken = "another program is listening there"
}
