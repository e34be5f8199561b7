import Cryptography
import Foundation
import TestSupport

@testable import Messaging

/// A broker for one test, which does what its script says: real brokers do not send at will, or end where a test wants.
struct ScriptedBroker {
    let program: Program
    let address: BrokerAddress
    private let authority: TestAuthority?
    let bench: Bench

    /// What every script begins with.
    private static let prelude = """
        import socket, ssl, sys
        context = None
        if len(sys.argv) > 1:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[1], sys.argv[2])
        listener = socket.create_server(("127.0.0.1", 0))
        print("port", listener.getsockname()[1])
        def accept():
            client, _ = listener.accept()
            return context.wrap_socket(client, server_side=True) if context else client
        def read(client, count):
            found = b""
            while len(found) < count:
                piece = client.recv(count - len(found))
                if not piece: raise EOFError
                found += piece
            return found
        def packet(client):
            kind, length, shift = read(client, 1)[0], 0, 0
            while True:
                byte = read(client, 1)[0]
                length |= (byte & 127) << shift
                shift += 7
                if byte < 128: return kind, read(client, length)
        def packed(kind, content):
            length, header = len(content), bytes([kind])
            while True:
                header += bytes([length % 128 | (128 if length > 127 else 0)])
                length //= 128
                if not length: return header + content
        def publish(mid, payload):
            return packed(0x32, b"\\x00\\x01t" + mid.to_bytes(2, "big") + payload)
        def connack(session): return bytes([0x20, 2, session, 0])
        def identifier(content): return int.from_bytes(content[:2], "big")
        def subscribed(client, count=1):
            assert packet(client)[0] == 0x10
            client.sendall(connack(0))
            for _ in range(count):
                kind, content = packet(client)
                assert kind == 0x82
                client.sendall(bytes([0x90, 3, *content[:2], 1]))

        """

    /// - Parameter isSecure: whether it takes TLS connections.
    init(isSecure: Bool = false, _ script: String) async throws {
        bench = try Bench()
        var arguments = ["-u", "-c", Self.prelude + script]
        authority = isSecure ? try TestAuthority() : nil
        if let authority {
            let identity = try authority.identity("broker", ipAddresses: ["127.0.0.1"])
            arguments.append(try bench.write(identity.chain[0].pem, to: "server.pem"))
            arguments.append(try bench.write(identity.keyPEM, to: "server.key"))
        }
        program = try Program("/usr/bin/python3", arguments)
        guard let line = await program.firstLine(containing: "port"),
            let port = line.split(separator: " ").last.flatMap({ Int($0) })
        else { throw TestBroker.BrokerDidNotStart() }
        address = BrokerAddress(host: "127.0.0.1", port: port)
    }

    @Sendable func credentials(_ attempt: Int) throws -> BrokerCredentials {
        let tls = try authority.map { authority in
            try TLSContext(
                trust: ServerTrust(host: address.host, anchors: [authority.certificate]), identity: nil)
        }
        return BrokerCredentials(clientID: "latchkey-test", userName: nil, password: nil, tls: tls)
    }
}
