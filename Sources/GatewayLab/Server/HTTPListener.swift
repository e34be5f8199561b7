import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix

/// A listening HTTP/1.1 server with Hummingbird's connections, with TLS or without, that can be stopped at once.
///
/// It accepts by itself: swift-nio ends the program when an open connection is dropped, as Hummingbird's own server
/// drops those that it accepts while it closes. Here each has its task before it is open.
final class HTTPListener: Sendable {
    private static let loops = MultiThreadedEventLoopGroup.singleton

    let port: Int
    private let channel: any Channel
    private let connections: Connections
    private let conversations: Conversations

    private init(channel: any Channel, port: Int, connections: Connections, conversations: Conversations) {
        self.channel = channel
        self.port = channel.localAddress?.port ?? port
        self.connections = connections
        self.conversations = conversations
    }

    /// - Parameter tls: `nil` for plain HTTP.
    /// - Throws: `LabError.cannotListen`
    static func start(
        _ responder: some HTTPResponder, address: String, port: Int, tls: TLSCredentials?, connections: Connections,
        logger: Logger
    ) async throws -> HTTPListener {
        // A connection that is idle for two minutes is closed.
        let http = HTTP1Channel(
            responder: { request, writer, channel in
                var response: Response
                do {
                    response = try await responder.respond(to: request, on: Connection(channel: channel))
                } catch let error as HTTPParserError {
                    throw error  // Hummingbird says 400.
                } catch {
                    response = Response(status: .internalServerError)
                }
                response.headers[.date] = Self.date()
                try await writer.write(response: response.head, body: response.body)
            }, configuration: .init(additionalChannelHandlers: [connections.tracker()], idleTimeout: .seconds(120)))
        let conversations = Conversations()
        do {
            let channel = try await listen(http, tls, address: address, port: port, conversations, logger)
            return HTTPListener(channel: channel, port: port, connections: connections, conversations: conversations)
        } catch {
            throw LabError.cannotListen(address: address, port: port, error)
        }
    }

    private static func listen(
        _ setup: HTTP1Channel, _ tls: TLSCredentials?, address: String, port: Int, _ conversations: Conversations,
        _ logger: Logger
    ) async throws -> any Channel {
        try await ServerBootstrap(group: loops)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                // Also one that was accepted while the server was closing.
                channel.parent?.closeFuture.whenComplete { _ in channel.close(promise: nil) }
                let isReady = channel.eventLoop.makeCompletedFuture {
                    guard let tls else { return }
                    try channel.pipeline.syncOperations.addHandler(TLSHandler(TLSSession(tls)))
                }
                return isReady.flatMap { setup.setup(channel: channel, logger: logger) }.map { connection in
                    conversations.add { await setup.handle(value: connection, logger: logger) }
                }
            }
            .bind(host: address, port: port)
            .get()
    }

    /// The time as HTTP writes it (RFC 9110 section 5.6.7).
    private static func date() -> String {
        var now = time(nil)
        var parts = tm()
        gmtime_r(&now, &parts)
        var text = [CChar](repeating: 0, count: 32)
        let length = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: text[..<length].map(UInt8.init), as: UTF8.self)
    }

    /// Closes the port and every connection. Returns when both are closed.
    func stop() async {
        // It fails where the server has closed by itself, which is as good.
        try? await channel.close().get()
        await connections.closeAll()
        await conversations.end()
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
