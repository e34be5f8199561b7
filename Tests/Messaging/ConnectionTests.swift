import Cryptography
import Foundation
import Groundwork
import Synchronization
import TestSupport
import Testing

@testable import Messaging

@Suite("Broker connection", .timeLimit(.minutes(5)))
struct ConnectionTests {
    private func failure(of station: Station) async -> MessagingError? {
        let events = station.messenger.events.subscribe()
        station.run()
        return await Station.first(of: events) { if case .failed(let error, _) = $0 { error } else { nil } }
    }

    @Test(
        "a broker connection is made over TLS with the device's certificate (MAG checklist 39)",
        arguments: ["localhost", "127.0.0.1"])
    func mutualTLS(host: String) async throws {
        let secure = try await SecureBroker(host: host)
        let credentials = try secure.credentials()
        let station = try await Station(at: secure.broker.address, credentials: { _ in credentials })
        try await station.publish("x", to: "t")
        try await station.waitUntilSent()
    }

    @Test("a broker connection over TLS holds nothing back: bursts, single and large messages come back whole")
    func bursts() async throws {
        let secure = try await SecureBroker(keepsAll: true)
        let credentials = try secure.credentials()
        let station = try await Station(at: secure.broker.address, credentials: { _ in credentials })
        try await station.waitUntilConnected()
        let back = try await station.messenger.subscribe("t", qos: .atLeastOnce, bound: 5000)
        let burst = (0..<2000).map { "\($0)" }
        try await station.outbox.accept(
            try burst.map { OutgoingMessage(topic: try Topic("t"), payload: Array($0.utf8)) })
        #expect(await back.texts(2000) == burst)
        for text in ["alone", String(repeating: "x", count: 100_000), "after"] {
            try await station.publish(text, to: "t")
            #expect(await back.texts(1) == [text])
        }
        try await station.waitUntilSent()
    }

    @Test("a broker connection is refused by the client when no pin matches the broker")
    func wrongPin() async throws {
        let secure = try await SecureBroker()
        let other = PublicKeyPin(of: try PrivateKey(generating: .p256).publicKey)
        let credentials = try secure.credentials(
            ServerTrust(host: "localhost", anchors: [secure.authority.certificate], pins: [other]))
        let station = try await Station(at: secure.broker.address, running: false, credentials: { _ in credentials })
        #expect(await failure(of: station) == .tlsRefused(secure.broker.address, .pinMismatch))
    }

    @Test("a broker connection is refused by the client when the certificate is for another host")
    func wrongHost() async throws {
        let secure = try await SecureBroker()
        let credentials = try secure.credentials(
            ServerTrust(host: "gateway.example", anchors: [secure.authority.certificate]))
        let station = try await Station(at: secure.broker.address, running: false, credentials: { _ in credentials })
        #expect(
            await failure(of: station) == .tlsRefused(secure.broker.address, .hostMismatch(host: "gateway.example")))
    }

    @Test("a broker connection fails when the broker rejects the device's certificate")
    func wrongClientCertificate() async throws {
        let secure = try await SecureBroker()
        let credentials = try secure.credentials(from: try TestAuthority("Other CA"))
        let station = try await Station(at: secure.broker.address, running: false, credentials: { _ in credentials })
        let error = try #require(await failure(of: station))
        // The broker says why and hangs up at once; with a reset, its word may be lost on the way (RFC 8446 section
        // 6.2).
        let lost = MessagingError.connectionLost(
            secure.broker.address, reason: "the broker closed it before it answered")
        #expect(error.code == "messaging.tls-failed" || error == lost, "\(error)")
    }

    @Test("a broker connection reports refused credentials, and reconnects with fresh ones")
    func refusedCredentials() async throws {
        let bench = try Bench()
        let file = bench.path("passwords")
        let tool = try Program("/usr/bin/mosquitto_passwd", ["-c", "-b", file, "alice", "right"])
        for await _ in tool.lines {}
        let broker = try await TestBroker(.init(lines: ["password_file \(file)"]), bench: bench)
        let station = try await Station(
            at: broker.address, running: false,
            credentials: { attempt in
                BrokerCredentials(
                    clientID: "board", userName: "alice", password: SecretBytes(utf8: attempt < 3 ? "old" : "right"),
                    tls: nil)
            })
        let events = station.messenger.events.subscribe()
        station.run()
        #expect(
            await Station.first(of: events) { event -> BrokerRefusal? in
                if case .refused(let refusal) = event { refusal } else { nil }
            } == .notAuthorized)
        #expect(await Station.first(of: events) { if case .connected = $0 { true } else { nil } } == true)
        #expect(await station.messenger.status().lastError == nil)
    }

    @Test("fresh credentials are requested before each connection, also on a requested reconnect")
    func freshCredentials() async throws {
        let broker = try await TestBroker()
        let asked = Mutex(0)
        let station = try await Station(
            at: broker.address,
            credentials: { attempt in
                asked.withLock { $0 = attempt }
                return BrokerCredentials(clientID: "board", userName: nil, password: nil, tls: nil)
            })
        try await station.waitUntilConnected()
        #expect(asked.withLock { $0 } == 1)
        let events = station.messenger.events.subscribe()
        await station.messenger.reconnect()
        #expect(await Station.first(of: events) { if case .connected = $0 { true } else { nil } } == true)
        #expect(asked.withLock { $0 } == 2)
    }

    @Test("a messenger without credentials retries later, and reports the reason and the remedy")
    func noCredentials() async throws {
        struct NotRegistered: Explained {
            let explanation = Explanation(
                "gateway.no-answer", .unreachable, "the gateway is away", remedy: "wait for it",
                gateway: .local(100_403))
            static let examples = [NotRegistered()]
        }
        let station = try await Station(
            at: BrokerAddress(host: "localhost", port: 1), running: false, credentials: { _ in throw NotRegistered() })
        let said = await failure(of: station)?.explanation
        #expect(said?.code == "messaging.credentials-unavailable" && said?.cause == "gateway.no-answer")
        #expect(said?.message == "there are no credentials for the broker: the gateway is away")
        #expect(said?.remedy == "wait for it" && said?.gateway == .local(100_403))
        try await station.stop()
    }

    @Test("a connection error names the host and port that nothing listens on, or the missing host")
    func nobodyListens() async throws {
        let address = BrokerAddress(host: "127.0.0.1", port: try UnusedPort.reserve())
        let station = try await Station(at: address, running: false)
        #expect(await failure(of: station) == .cannotConnect(address, reason: "Connection refused"))
        let unknown = BrokerAddress(host: "nowhere.invalid", port: 1)
        let other = try await Station(at: unknown, running: false)
        #expect(await failure(of: other) == .cannotConnect(unknown, reason: "the host is unknown"))
    }

    /// That it rests meanwhile is measured with the whole agent, among the faults that it gets over.
    @Test("a broker connection gives up on a server that accepts and stays silent", arguments: [true, false])
    func silentServer(tls: Bool) async throws {
        let server = try SilentServer()
        let context = try TLSContext(trust: ServerTrust(host: "127.0.0.1", usesPublicAnchors: true), identity: nil)
        let address = BrokerAddress(host: "127.0.0.1", port: server.port)
        let station = try await Station(at: address, running: false, adjust: { $0.connectTimeout = .seconds(1) }) { _ in
            BrokerCredentials(clientID: "board", userName: nil, password: nil, tls: tls ? context : nil)
        }
        #expect(await failure(of: station) == .connectTimeout(address, .seconds(1)))
        try await station.stop()
    }

    @Test("a broker connection notices a server that hangs up during the handshake", arguments: [true, false])
    func hangingUp(tls: Bool) async throws {
        let server = try SilentServer(hangsUp: true)
        let context = try TLSContext(trust: ServerTrust(host: "127.0.0.1", usesPublicAnchors: true), identity: nil)
        let address = BrokerAddress(host: "127.0.0.1", port: server.port)
        let station = try await Station(
            at: address, running: false,
            credentials: { _ in
                BrokerCredentials(clientID: "board", userName: nil, password: nil, tls: tls ? context : nil)
            })
        let error = try #require(await failure(of: station))
        #expect(error == .connectionLost(address, reason: "the broker closed it before it answered"))
        try await station.stop()
    }

    @Test("a broker connection finds a broker that listens on one address family behind a name with both")
    func families() async throws {
        let broker = try await TestBroker(host: "localhost")
        let station = try await Station(at: broker.address)
        try await station.waitUntilConnected()
    }

    @Test("a broker connection ends in order with its task, even while it waits to retry (MAG checklist 41)")
    func stopping() async throws {
        let address = BrokerAddress(host: "127.0.0.1", port: try UnusedPort.reserve())
        let station = try await Station(at: address, running: false) {
            $0.backoff = Backoff(initial: .seconds(1000), cap: .seconds(1000))
        }
        _ = await failure(of: station)
        try await station.stop()
        #expect(await station.messenger.status().state == .stopped)
    }

    @Test("a messenger runs only once at a time")
    func once() async throws {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address)
        try await station.waitUntilConnected()
        await #expect(throws: MessagingError.alreadyRunning) { try await station.messenger.run() }
    }

    @Test("a broker connection outlives the broker's keep-alive limit of one and a half periods")
    func keepAlive() async throws {
        let broker = try await TestBroker(.init(lines: ["allow_anonymous true", "log_type all"]))
        let station = try await Station(at: broker.address) { $0.keepAlive = .seconds(10) }
        try await station.waitUntilConnected()
        let events = station.messenger.events.subscribe()
        let lost = Task {
            await Station.first(of: events) { if case .failed(let error, _) = $0 { error } else { nil } }
        }
        // The broker would hang up after 15 s of silence; the second question comes after 22.
        for _ in 0..<2 { try #require(await broker.says("Received PINGREQ")) }
        lost.cancel()
        #expect(await lost.value == nil)
    }

    @Test("a broker connection notices a broker that no longer answers")
    func frozenBroker() async throws {
        let broker = try await TestBroker()
        let station = try await Station(at: broker.address) { $0.keepAlive = .seconds(5) }
        try await station.waitUntilConnected()
        let events = station.messenger.events.subscribe()
        broker.freeze()
        let error = await Station.first(of: events) { if case .failed(let error, _) = $0 { error } else { nil } }
        #expect(error == .connectionLost(broker.address, reason: "it did not answer a ping"))
        broker.thaw()
    }
}

/// Takes connections and says nothing; or ends them at once.
final class SilentServer: Sendable {
    let port: Int
    private let listener: Int32
    private let accepted = Mutex<[Int32]>([])

    init(hangsUp: Bool = false) throws {
        port = try UnusedPort.reserve()
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = inet_addr("127.0.0.1")
        name.sin_port = UInt16(port).bigEndian
        let status = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0, listen(listener, 8) == 0 else { throw POSIXError(.EADDRINUSE) }
        Thread.detachNewThread { [listener, weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                if hangsUp {
                    var bytes = [UInt8](repeating: 0, count: 4096)
                    _ = read(connection, &bytes, bytes.count)
                    close(connection)
                } else {
                    self?.accepted.withLock { $0.append(connection) }
                }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        accepted.withLock { for connection in $0 { close(connection) } }
    }
}
