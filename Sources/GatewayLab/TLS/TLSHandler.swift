import NIOCore

/// TLS between a connection's socket and the handlers of its protocol, for a server.
///
/// What the protocol writes is encrypted at once, so the socket's pressure reaches it; what comes is decrypted as it
/// comes. Both sides may end their half: a client that has said that it is through still gets its answer.
final class TLSHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        case handshaking
        case open
        /// Nothing more is read or written, beyond what is on its way.
        case ended
    }

    /// How long a client may take to get what was on its way, and an alert, when the connection is closed.
    private static let patience = TimeAmount.seconds(5)

    private let session: TLSSession
    private var state = State.handshaking
    /// What was written before the handshake was complete.
    private var early: [(text: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
    private var hasInputEnded = false
    /// Once the protocol has ended its half: succeeds when the socket has taken all of it.
    private var lastWrite: EventLoopFuture<Void>?
    private var deadline: Scheduled<Void>?

    init(_ session: TLSSession) { self.session = session }

    /// The certificate that the client has shown; DER.
    var peerCertificate: [UInt8]? { session.peerCertificate }

    // MARK: What comes

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // A client that does not know yet that it was refused may go on speaking, and one may against its own word.
        guard state != .ended, !hasInputEnded else { return }
        session.receive(unwrapInboundIn(data))
        do throws(TLSFailure) {
            if state == .handshaking {
                let isComplete = try session.shakeHands()
                send(context)
                guard isComplete else { return }
                state = .open
                for (text, promise) in early { write(text, promise, context) }
                early = []
                context.flush()
            }
            try read(context)
        } catch {
            fail(error, context)
        }
    }

    private func read(_ context: ChannelHandlerContext) throws(TLSFailure) {
        var text = context.channel.allocator.buffer(capacity: 0)
        try session.read(into: &text)
        send(context)
        if text.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(text)) }
        if session.hasPeerEnded { endInput(context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // The protocol may ask for nothing any more.
        if state == .ended { context.read() }
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        switch state {
        case .handshaking: fail(.endedInHandshake, context)
        case .open:
            if !hasInputEnded { context.fireErrorCaught(TLSFailure.truncated) }
            endInput(context)
        case .ended: break
        }
    }

    /// The client has ended its half.
    private func endInput(_ context: ChannelHandlerContext) {
        guard !hasInputEnded else { return }
        hasInputEnded = true
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        lastWrite?.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }

    // MARK: What goes

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let text = unwrapOutboundIn(data)
        switch state {
        case .handshaking: early.append((text, promise))
        case .open where lastWrite == nil: write(text, promise, context)
        case .open, .ended: promise?.fail(ChannelError.outputClosed)
        }
    }

    private func write(_ text: ByteBuffer, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        do throws(TLSFailure) {
            try session.write(text)
            context.write(wrapOutboundOut(session.takeOutgoing()), promise: promise)
        } catch {
            promise?.fail(error)
            fail(error, context)
        }
    }

    /// Sends what TLS says by itself, if anything.
    private func send(_ context: ChannelHandlerContext) {
        let bytes = session.takeOutgoing()
        if bytes.readableBytes > 0 { context.writeAndFlush(wrapOutboundOut(bytes), promise: nil) }
    }

    // MARK: The end

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch (state, mode) {
        case (_, .input): promise?.fail(ChannelError.operationUnsupported)
        case (.handshaking, _):
            state = .ended
            context.close(promise: promise)
        case (.open, .output) where lastWrite == nil:
            sayGoodbye(context).assumeIsolated().whenComplete { _ in
                // The socket would drop the rest of an answer if it were closed before.
                context.close(mode: self.hasInputEnded ? .all : .output, promise: promise)
            }
        case (.open, .all):
            end(context, after: lastWrite ?? sayGoodbye(context), mode: .all)
            context.channel.closeFuture.cascade(to: promise)
        case (_, .output): promise?.fail(ChannelError.outputClosed)
        case (.ended, .all): context.channel.closeFuture.cascade(to: promise)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        state = .ended
        dropEarly(ChannelError.ioOnClosedChannel)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
        dropEarly(ChannelError.ioOnClosedChannel)
    }

    /// TLS goes on no more. The socket stays until the client has closed it: if it were closed while something comes, the
    /// client would see a reset, and not the alert that says why.
    private func fail(_ error: TLSFailure, _ context: ChannelHandlerContext) {
        guard state != .ended else { return }
        dropEarly(error)
        let promise = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(session.takeOutgoing()), promise: promise)
        end(context, after: promise.futureResult, mode: .output)
        context.fireErrorCaught(error)
    }

    /// Closes the socket, or its half, after the last write; and all of it when the client does not get there in time.
    private func end(_ context: ChannelHandlerContext, after write: EventLoopFuture<Void>, mode: CloseMode) {
        state = .ended
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { context.close(promise: nil) }
        write.assumeIsolated().whenComplete { _ in context.close(mode: mode, promise: nil) }
        context.read()
    }

    /// - Returns: succeeds when the socket has taken all of it.
    private func sayGoodbye(_ context: ChannelHandlerContext) -> EventLoopFuture<Void> {
        session.sayGoodbye()
        let promise = context.eventLoop.makePromise(of: Void.self)
        lastWrite = promise.futureResult
        context.writeAndFlush(wrapOutboundOut(session.takeOutgoing()), promise: promise)
        return promise.futureResult
    }

    private func dropEarly(_ error: any Error) {
        for (_, promise) in early { promise?.fail(error) }
        early = []
    }
}
