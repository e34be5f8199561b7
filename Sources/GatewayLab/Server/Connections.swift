import NIOCore
import Synchronization

/// The open connections of a server, so that a lab can close them at once, and the count of all connections so far.
final class Connections: Sendable {
    private struct State {
        var open: [ObjectIdentifier: any Channel] = [:]
        var accepted = 0
    }
    private let state = Mutex(State())

    var accepted: Int { state.withLock { $0.accepted } }

    func resetCount() { state.withLock { $0.accepted = 0 } }

    /// A handler in each connection's pipeline.
    func tracker() -> some RemovableChannelHandler & Sendable { Tracker(connections: self) }

    func closeAll() async {
        let channels = state.withLock { Array($0.open.values) }
        for channel in channels {
            // A channel may be closed already.
            try? await channel.close().get()
        }
    }

    private final class Tracker: ChannelInboundHandler, RemovableChannelHandler, Sendable {
        typealias InboundIn = Any
        private let connections: Connections
        init(connections: Connections) { self.connections = connections }

        func handlerAdded(context: ChannelHandlerContext) {
            let channel = context.channel
            connections.state.withLock { state in
                state.open[ObjectIdentifier(channel)] = channel
                state.accepted += 1
            }
        }

        func handlerRemoved(context: ChannelHandlerContext) {
            let id = ObjectIdentifier(context.channel)
            connections.state.withLock { _ = $0.open.removeValue(forKey: id) }
        }
    }
}
