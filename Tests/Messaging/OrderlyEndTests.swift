import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Messaging

@Suite("The end of a broker connection", .timeLimit(.minutes(5)))
struct OrderlyEndTests {
    /// Takes a client, sends it much at once when it publishes something, and says how the connection ends.
    private static let broker = """
        import socket
        listener = socket.create_server(("127.0.0.1", 0))
        print("port", listener.getsockname()[1])
        client, _ = listener.accept()
        stream = client.makefile("rb")
        def packet():
            kind, length = stream.read(1)[0], stream.read(1)[0]
            assert length < 128
            return kind, stream.read(length)
        while True:
            kind, content = packet()
            if kind >> 4 == 1: client.sendall(bytes([0x20, 2, 0, 0]))
            if kind >> 4 == 8: client.sendall(bytes([0x90, 3, *content[:2], 0]))
            if kind >> 4 == 3: break
        client.sendall(bytes([0x30, 4, 0, 1, ord("t"), ord("x")]) * 5000)
        print("sent")
        try:
            rest = stream.read()
            print("ended with", rest[-2:].hex())
        except ConnectionResetError:
            print("reset")
        """

    @Test("the end of a broker connection is announced and no reset, although much is unread")
    func unread() async throws {
        let broker = try Program("/usr/bin/python3", ["-u", "-c", Self.broker])
        let line = try #require(await broker.firstLine(containing: "port"))
        let port = try #require(line.split(separator: " ").last.flatMap { Int($0) })
        let station = try await Station(at: BrokerAddress(host: "127.0.0.1", port: port))
        let subscription = try await station.messenger.subscribe("t", qos: .atMostOnce, bound: 10_000)
        // Holds the connection's thread while it ends.
        let mayGoOn = DispatchSemaphore(value: 0)
        subscription.deliver { _ in
            mayGoOn.wait()
            return true
        }
        try await station.publish("go", to: "t", qos: .atMostOnce)
        _ = await broker.firstLine(containing: "sent")
        async let stop: Void = station.stop()
        for _ in 0..<5000 { mayGoOn.signal() }
        try await stop
        // DISCONNECT (MQTT 3.1.1 section 3.14).
        let end = await broker.firstLine(containing: "e")
        #expect(end == "ended with e000")
    }
}
