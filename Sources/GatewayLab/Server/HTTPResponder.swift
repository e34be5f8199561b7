import HummingbirdCore
import NIOCore

/// What answers the requests of a server.
protocol HTTPResponder: Sendable {
    /// - Throws: anything, which the client is told as an internal error; `HTTPParserError` says that the request is at
    ///   fault.
    func respond(to request: Request, on connection: Connection) async throws -> Response
}

/// A request's connection, for the certificate that the client showed and for faults that close it.
struct Connection {
    let channel: any Channel

    /// What the client has shown in the handshake; DER.
    func clientCertificate() async throws -> [UInt8]? {
        try await channel.eventLoop.submit { [channel] in
            try channel.pipeline.syncOperations.handler(type: TLSHandler.self).peerCertificate
        }.get()
    }
}
