import NIOCore
import NIOPosix

/// The Unix socket on which the broker's plugin asks the gate.
enum BrokerGateSocket {
    /// Serves until the task is canceled; then all connections are closed.
    /// - Parameter ready: called when the socket accepts connections.
    static func serve(_ gate: BrokerGate, at path: String, ready: @Sendable () -> Void) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                // Also one that was accepted while the server was closing.
                channel.parent?.closeFuture.whenComplete { _ in channel.close(promise: nil) }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Conversation(with: gate))
                }
            }
            .bind(unixDomainSocketPath: path, cleanupExistingSocketFile: true)
            .get()
        ready()
        try await withTaskCancellationHandler {
            try await server.closeFuture.get()
        } onCancel: {
            server.close(promise: nil)
        }
    }

    /// One connection of the plugin. Lines are answered in their order, and nothing is read before all are answered.
    private final class Conversation: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        /// Longest line, in bytes; the plugin's own limit is lower.
        private static let lineLimit = 65_536

        private let gate: BrokerGate
        private var unanswered = ByteBuffer()

        init(with gate: BrokerGate) { self.gate = gate }

        func channelActive(context: ChannelHandlerContext) { context.read() }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            unanswered.writeImmutableBuffer(unwrapInboundIn(data))
        }

        func channelReadComplete(context: ChannelHandlerContext) { answerNext(context) }

        private func answerNext(_ context: ChannelHandlerContext) {
            guard let end = unanswered.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else {
                unanswered.discardReadBytes()
                // After a failure the plugin reconnects; until then it denies everything.
                if unanswered.readableBytes > Self.lineLimit { context.close(promise: nil) } else { context.read() }
                return
            }
            let line = unanswered.readString(length: end - unanswered.readerIndex) ?? ""
            unanswered.moveReaderIndex(forwardBy: 1)
            context.eventLoop.makeFutureWithTask { [gate] in await gate.verdict(on: line) }
                .assumeIsolated()
                .whenSuccess { verdict in
                    guard context.channel.isActive else { return }
                    if let verdict {
                        let answer = ByteBuffer(string: verdict.line + "\n")
                        context.writeAndFlush(self.wrapOutboundOut(answer), promise: nil)
                    }
                    self.answerNext(context)
                }
        }

        func channelInactive(context: ChannelHandlerContext) { gate.forgetSessions() }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
