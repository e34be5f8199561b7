import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import NIOSSL

/// A listening HTTP/1.1 server over Hummingbird, with TLS or without, that can be stopped at once.
final class HTTPListener: Sendable {
    private static let loops = MultiThreadedEventLoopGroup.singleton

    let port: Int
    private let channel: any Channel
    private let connections: Connections
    private let running: Task<Void, Never>

    private init(port: Int, channel: any Channel, connections: Connections, running: Task<Void, Never>) {
        self.port = port
        self.channel = channel
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
        // At a lower level it would report every stopped server as an error.
        logger.logLevel = .critical
        // A connection that is idle for two minutes is closed.
        let http = HTTPServerBuilder.http1(
            configuration: .init(additionalChannelHandlers: [connections.tracker()], idleTimeout: .seconds(120)))
        let (channels, channelOpened) = AsyncThrowingStream<any Channel, any Error>.makeStream()
        let application = Application(
            responder: responder, server: try tls.map { try .tls(http, configuration: $0) } ?? http,
            configuration: .init(address: .hostname(address, port: port)),
            onServerRunning: { channelOpened.yield($0) }, eventLoopGroupProvider: .shared(Self.loops), logger: logger)
        let running = Task {
            do {
                try await application.run()
                channelOpened.finish()
            } catch {
                channelOpened.finish(throwing: error)
            }
        }
        do {
            for try await channel in channels {
                return HTTPListener(
                    port: channel.localAddress?.port ?? port, channel: channel, connections: connections,
                    running: running)
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
        // A connection that the server accepts but no longer takes would end the program, because swift-nio allows nobody
        // to drop an open one. So no more are accepted, and those accepted are closed, before the server ends.
        // It fails where the server has closed by itself, which is as good.
        try? await channel.setOption(ChannelOptions.autoRead, value: false).get()
        for loop in Self.loops.makeIterator() { try? await loop.submit {}.get() }
        await connections.closeAll()
        running.cancel()
        await running.value
    }
}

extension LabError {
    /// - Parameter error: the failure to bind the port.
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
