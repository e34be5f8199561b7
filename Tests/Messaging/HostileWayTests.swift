import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Messaging

@Suite("Hostile ways to a broker", .timeLimit(.minutes(5)))
struct HostileWayTests {
    /// A server that accepts WebSockets, and what it says then.
    private static let webSocket = """
        import base64, hashlib, struct
        def head(client):
            found = b""
            while not found.endswith(b"\\r\\n\\r\\n"): found += read(client, 1)
            return found
        def upgrade(client, accept=None):
            lines = head(client).split(b"\\r\\n")
            key = [line for line in lines if line.startswith(b"Sec-WebSocket-Key")][0].split()[1]
            digest = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
            client.sendall(b"HTTP/1.1 101 S\\r\\nUpgrade: websocket\\r\\nConnection: upgrade\\r\\n"
                b"Sec-WebSocket-Protocol: mqtt\\r\\nSec-WebSocket-Accept: "
                + (accept or base64.b64encode(digest)) + b"\\r\\n\\r\\n")
        def frame(client):
            first, second = read(client, 2)
            assert second & 128
            count = second & 127
            if count == 126: count, = struct.unpack(">H", read(client, 2))
            if count == 127: count, = struct.unpack(">Q", read(client, 8))
            mask, payload = read(client, 4), read(client, count)
            return first, bytes(byte ^ mask[index & 3] for index, byte in enumerate(payload))
        def wait(client):
            while client.recv(65536): pass

        """

    private func failure(_ script: String, isProxy: Bool = false, timeout: Duration = .seconds(20)) async throws -> (
        MessagingError?, BrokerAddress
    ) {
        let server = try await ScriptedBroker(Self.webSocket + script)
        let way = isProxy ? try BrokerProxy(url: "http://127.0.0.1:\(server.address.port)") : nil
        let address = BrokerAddress(
            host: "127.0.0.1", port: isProxy ? 8883 : server.address.port, webSocketPath: isProxy ? nil : "/mqtt")
        let station = try await Station(
            at: address, running: false,
            adjust: {
                $0.proxy = { _ in way }
                $0.connectTimeout = timeout
            })
        let failure = await station.failure()
        try await station.stop()
        return (failure, address)
    }

    @Test(
        "a proxy that says too much, nonsense or half an answer is refused, and is read no further",
        arguments: [
            (
                "while True: client.sendall(b'HTTP/1.1 200 OK\\r\\n' + b'A: b\\r\\n' * 1000)",
                "what it answered is not HTTP"
            ),
            ("while True: client.sendall(b'x' * 65536)", "what it answered is not HTTP"),
            ("client.sendall(b'SSH-2.0-OpenSSH\\r\\n\\r\\n')\nwait(client)", "what it answered is not HTTP"),
            ("client.sendall(b'HTTP/1.1 200 O')\nhead(client)\nclient.close()\naccept()", "the broker closed it"),
        ])
    func proxies(script: String, reason: String) async throws {
        let (error, address) = try await failure("client = accept()\n" + script, isProxy: true)
        guard case .proxyFailed(_, address, let found) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(found == reason)
    }

    @Test("a proxy that answers a byte at a time gets no more time than any other")
    func trickling() async throws {
        let (error, address) = try await failure(
            """
            import time
            client = accept()
            while True:
                client.sendall(b"H")
                time.sleep(0.05)
            """, isProxy: true, timeout: .seconds(2))
        #expect(error == .connectTimeout(address, .seconds(2)))
    }

    @Test(
        "a WebSocket server that breaks the protocol is refused with the reason",
        arguments: [
            ("upgrade(client, b'AAAA')", "its answer is not one to this request: Sec-WebSocket-Accept is wrong"),
            ("head(client)\nclient.sendall(b'HTTP/1.1 200 OK\\n' * 9999)", "what it answered is not HTTP"),
        ])
    func handshakes(script: String, reason: String) async throws {
        let (error, address) = try await failure("client = accept()\n" + script + "\nwait(client)")
        #expect(error == .webSocketFailed(address, reason: reason))
    }

    @Test(
        "a WebSocket server that sends frames it may not send loses the connection, with the reason",
        arguments: [
            ("b'\\x82\\x84\\0\\0\\0\\0\\x20\\x02\\0\\0'", "it sent a masked WebSocket frame, as only clients do"),
            ("b'\\x81\\x01a'", "it sent text over WebSocket, which MQTT does not have"),
            ("b'\\x82\\x7f' + b'\\xff' * 8", "it sent a WebSocket frame with a length that is not allowed"),
            ("b'\\x88\\x02\\x03\\xea'", "the broker closed it with WebSocket code 1002"),
        ], [false, true])
    func frames(of sent: (frame: String, reason: String), isOpen: Bool) async throws {
        let (frame, reason) = sent
        let (error, address) = try await failure(
            """
            client = accept()
            upgrade(client)
            frame(client)
            if \(isOpen ? "True" : "False"): client.sendall(b"\\x82\\x04" + connack(0))
            client.sendall(\(frame))
            wait(client)
            """)
        #expect(error == .connectionLost(address, reason: reason))
    }

    @Test(
        "a WebSocket server that floods with pings and closes in a frame neither fills memory nor hangs the connection")
    func flood() async throws {
        let (error, _) = try await failure(
            """
            client = accept()
            upgrade(client)
            frame(client)
            client.sendall(b"\\x02\\x01\\x20")
            client.settimeout(1)
            sent = 0
            try:
                while sent < 64 << 20: sent += client.send((b"\\x89\\x7d" + b"p" * 125) * 1000)
            except TimeoutError: pass
            client.setblocking(True)
            assert sent < 64 << 20
            client.close()
            accept()
            """)
        #expect(error?.code == "messaging.connection-lost", "\(String(describing: error))")
    }

    @Test("a WebSocket server may answer in pieces, ping, and close in order: the answer arrives, then the end")
    func pieces() async throws {
        let server = try await ScriptedBroker(
            Self.webSocket + """
                client = accept()
                upgrade(client)
                frame(client)
                client.sendall(b"\\x89\\x02hi\\x02\\x01\\x20\\x00\\x01\\x02" b"\\x89\\x00" + b"\\x80\\x02\\0\\0")
                assert frame(client) == (0x8a, b"hi")
                assert frame(client) == (0x8a, b"")
                print("both")
                client.sendall(b"\\x88\\x02\\x03\\xe8")
                wait(client)
                """)
        let address = BrokerAddress(host: "127.0.0.1", port: server.address.port, webSocketPath: "/")
        let station = try await Station(at: address, running: false)
        let events = station.messenger.events.subscribe()
        station.run()
        #expect(await Station.first(of: events) { if case .connected = $0 { true } else { nil } } == true)
        #expect(await server.program.firstLine(containing: "both") != nil)
        let error = await Station.first(of: events) { if case .failed(let error, _) = $0 { error } else { nil } }
        #expect(error == .connectionLost(address, reason: "the broker closed it"))
    }
}
