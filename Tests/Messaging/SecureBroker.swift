import Cryptography
import Foundation
import TestSupport

@testable import Messaging

/// A broker behind TLS that demands client certificates, and what a client needs for it.
struct SecureBroker {
    let authority: TestAuthority
    let server: TLSIdentity
    let broker: TestBroker
    let bench: Bench

    /// - Parameter keepsAll: for clients that are sent more than Mosquitto keeps for one of them by default.
    init(host: String = "localhost", keepsAll: Bool = false, webSocket: Bool = false, lines: [String] = []) async throws
    {
        authority = try TestAuthority()
        server = try authority.identity("broker", dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"])
        bench = try Bench()
        broker = try await TestBroker(
            .init(
                lines: lines + [
                    "allow_anonymous true", "require_certificate true", keepsAll ? "max_queued_messages 0" : "",
                    "cafile \(try bench.write(authority.certificate.pem, to: "ca.pem"))",
                    "certfile \(try bench.write(server.chain[0].pem, to: "server.pem"))",
                    "keyfile \(try bench.write(server.keyPEM, to: "server.key"))",
                ], speaksWebSocket: webSocket), bench: bench, host: host)
    }

    /// - Parameter key: of the public half of `real`, which the certificate is for.
    func credentials(key: PrivateKey, certifiedAs real: PrivateKey) throws -> BrokerCredentials {
        let chain = try authority.identity("board", usage: .client, key: real).chain
        let trust = ServerTrust(host: broker.address.host, anchors: [authority.certificate])
        return BrokerCredentials(
            clientID: "board", userName: nil, password: nil,
            tls: try TLSContext(trust: trust, identity: TLSIdentity(key: key, chain: chain)))
    }

    func credentials(
        _ trust: ServerTrust? = nil, from issuer: TestAuthority? = nil, clientID: String = "board"
    ) throws -> BrokerCredentials {
        let identity = try (issuer ?? authority).identity(clientID, usage: .client)
        let trust = trust ?? ServerTrust(host: broker.address.host, anchors: [authority.certificate])
        return BrokerCredentials(
            clientID: clientID, userName: nil, password: nil, tls: try TLSContext(trust: trust, identity: identity))
    }
}
