import NIOCore
import NIOPosix

/// A TCP port that is free at the moment. Mosquitto cannot choose a free port itself, so another program may take it
/// first; the caller has to retry.
func freePort(on address: String) async throws -> Int {
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .bind(host: address, port: 0).get()
    let port = channel.localAddress?.port
    try await channel.close().get()
    guard let port else { throw LabError.cannotListen(address: address, port: 0, reason: "it has no port") }
    return port
}
