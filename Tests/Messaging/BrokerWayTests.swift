import Cryptography
import Foundation
import Groundwork
import TestSupport
import Testing

@testable import Messaging

@Suite("Ways to a broker", .timeLimit(.minutes(5)))
struct BrokerWayTests {
    private static let webSocket = TestBroker.Options(
        lines: ["allow_anonymous true", "max_queued_messages 0", "log_type all"], speaksWebSocket: true)

    /// Messages there and back, of all sizes.
    private func roundTrip(_ station: Station) async throws {
        try await station.waitUntilConnected()
        let back = try await station.messenger.subscribe("t", qos: .atLeastOnce, bound: 5000)
        let burst = (0..<1000).map { "\($0)" }
        try await station.outbox.accept(
            try burst.map { OutgoingMessage(topic: try Topic("t"), payload: Array($0.utf8)) })
        #expect(await back.texts(1000) == burst)
        for text in ["alone", String(repeating: "x", count: 200_000), "after"] {
            try await station.publish(text, to: "t")
            #expect(await back.texts(1) == [text])
        }
        try await station.waitUntilSent()
    }

    // MARK: Real brokers and proxies

    @Test("MQTT over WebSocket carries bursts, single and large messages both ways, and ends in order")
    func webSocket() async throws {
        let broker = try await TestBroker(Self.webSocket)
        let station = try await Station(at: broker.address)
        try await roundTrip(station)
        let status = await station.messenger.status()
        #expect(
            status.broker.description == "127.0.0.1:\(broker.address.port)/mqtt" && status.way == "WebSocket, direct")
        #expect(await station.messenger.localAddress == [127, 0, 0, 1])
        try await station.stop()
        #expect(await broker.says("Received DISCONNECT from latchkey-test"))
    }

    @Test("MQTT over WebSocket and TLS proves both sides as MQTT over TLS does", arguments: ["localhost", "127.0.0.1"])
    func secureWebSocket(host: String) async throws {
        let secure = try await SecureBroker(host: host, keepsAll: true, webSocket: true)
        let credentials = try secure.credentials()
        let address = secure.broker.address
        let station = try await Station(at: address, credentials: { _ in credentials })
        try await roundTrip(station)
        let other = PublicKeyPin(of: try PrivateKey(generating: .p256).publicKey)
        let wrong = try secure.credentials(
            ServerTrust(host: host, anchors: [secure.authority.certificate], pins: [other]))
        let refusing = try await Station(at: address, running: false, credentials: { _ in wrong })
        #expect(await refusing.failure() == .tlsRefused(address, .pinMismatch))
        let strange = try secure.credentials(from: try TestAuthority("Other CA"))
        let refused = try await Station(at: address, running: false, credentials: { _ in strange })
        let code = await refused.failure()?.code
        #expect(code == "messaging.tls-failed" || code == "messaging.connection-lost")
    }

    @Test("MQTT over WebSocket loses no message where the connection is cut again and again")
    func cuts() async throws {
        let broker = try await TestBroker(Self.webSocket)
        let observed = try Program(
            "/usr/bin/mosquitto_sub",
            [
                "-h", "127.0.0.1", "-p", "\(broker.plainPort)", "-i", "observer", "-q", "2", "-t", "t", "-d", "-F",
                "MESSAGE %p",
            ])
        _ = await observed.firstLine(containing: "Subscribed")
        let relay = try CuttingRelay(to: broker.address, bytesUntilCut: 9000)
        let station = try await Station(
            at: BrokerAddress(host: "127.0.0.1", port: relay.address.port, webSocketPath: "/mqtt"))
        try await station.outbox.accept(
            try (0..<1000).map { OutgoingMessage(topic: try Topic("t"), payload: Array("\($0) \(Self.filling)".utf8)) })
        var missing = Set((0..<1000).map { "\($0)" })
        for await line in observed.lines where line.hasPrefix("MESSAGE ") {
            missing.remove(String(line.dropFirst(8).prefix { $0 != " " }))
            if missing.isEmpty { break }
        }
        #expect(missing.isEmpty)
        try await station.waitUntilSent()
    }

    private static let filling = String(repeating: "x", count: 100)

    @Test("MQTT passes a proxy that is asked with CONNECT, with TLS end to end", arguments: ["localhost", "127.0.0.1"])
    func proxied(host: String) async throws {
        let secure = try await SecureBroker(host: host, keepsAll: true)
        let proxy = try await TestProxy()
        let (credentials, way) = (try secure.credentials(), try proxy.proxy())
        let station = try await Station(
            at: secure.broker.address, adjust: { $0.proxy = { _ in way } }, credentials: { _ in credentials })
        try await roundTrip(station)
        #expect(await station.messenger.status().way == "TCP through the proxy 127.0.0.1:\(proxy.port)")
        #expect(await proxy.says("CONNECT \(host):\(secure.broker.address.port)"))
        try await station.stop()
    }

    @Test("MQTT over WebSocket and TLS passes a proxy that wants user and password")
    func proxiedWebSocket() async throws {
        let secure = try await SecureBroker(keepsAll: true, webSocket: true)
        let proxy = try await TestProxy(login: ("board", "secret7"))
        let (credentials, address) = (try secure.credentials(), secure.broker.address)
        let way = try proxy.proxy("board:secret%37@")
        let station = try await Station(
            at: address, adjust: { $0.proxy = { _ in way } }, credentials: { _ in credentials })
        try await roundTrip(station)
        #expect(await station.messenger.status().way == "WebSocket through the proxy 127.0.0.1:\(proxy.port)")
    }

    @Test("a protocol that TLS names (ALPN) passes both ways, on any port")
    func applicationProtocol() async throws {
        for webSocket in [false, true] {
            let secure = try await SecureBroker(webSocket: webSocket)
            let proxy = try await TestProxy()
            let way = try proxy.proxy()
            let identity = try secure.authority.identity("board", usage: .client)
            let tls = try TLSContext(
                trust: ServerTrust(host: "localhost", anchors: [secure.authority.certificate]), identity: identity,
                applicationProtocol: webSocket ? "http/1.1" : "mqtt")
            let station = try await Station(
                at: secure.broker.address, adjust: { $0.proxy = { _ in way } },
                credentials: { _ in BrokerCredentials(clientID: "board", userName: nil, password: nil, tls: tls) })
            try await station.waitUntilConnected()
            #expect(await proxy.says("CONNECT localhost"))
        }
    }

    @Test("a proxy that wants another password, or is away, is named without the password, with a remedy")
    func refusingProxy() async throws {
        let proxy = try await TestProxy(login: ("board", "secret7"))
        let address = BrokerAddress(host: "127.0.0.1", port: 1)
        for login in ["", "board:secret8@"] {
            let way = try proxy.proxy(login)
            let station = try await Station(at: address, running: false, adjust: { $0.proxy = { _ in way } })
            let error = try #require(await station.failure())
            guard case .proxyRefused("127.0.0.1:\(proxy.port)", address, let status) = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(status == 407 || status == 401)
            #expect(error.explanation.remedy?.contains("password") == true && !"\(error)".contains("secret8"))
        }
        let away = try BrokerProxy(url: "http://board:secret8@127.0.0.1:\(try UnusedPort.reserve())")
        let station = try await Station(at: address, running: false, adjust: { $0.proxy = { _ in away } })
        #expect(
            await station.failure()
                == .proxyFailed(proxy: "127.0.0.1:\(away.port)", address, reason: "Connection refused"))
        #expect(!"\(away)\(String(reflecting: away))".contains("secret8"))
    }

    @Test("a broker that a proxy does not reach, and a server without WebSocket, are named")
    func nobodyBehind() async throws {
        let proxy = try await TestProxy()
        let (way, nowhere) = (try proxy.proxy(), BrokerAddress(host: "127.0.0.1", port: try UnusedPort.reserve()))
        let station = try await Station(at: nowhere, running: false, adjust: { $0.proxy = { _ in way } })
        let error = try #require(await station.failure())
        #expect(error.code == "messaging.proxy-refused", "\(error)")
        let web = BrokerAddress(host: "127.0.0.1", port: proxy.port, webSocketPath: "/mqtt")
        let other = try await Station(at: web, running: false)
        let answered = try #require(await other.failure())
        #expect(answered.code == "messaging.websocket-refused", "\(answered)")
    }

    @Test("an attempt through a silent proxy ends at its limit, and at once with its task")
    func silentProxy() async throws {
        let server = try SilentServer()
        let way = try BrokerProxy(url: "http://127.0.0.1:\(server.port)")
        let address = BrokerAddress(host: "127.0.0.1", port: 1, webSocketPath: "/")
        let station = try await Station(
            at: address, running: false,
            adjust: {
                $0.proxy = { _ in way }
                $0.connectTimeout = .seconds(1)
            })
        #expect(await station.failure() == .connectTimeout(address, .seconds(1)))
        try await station.stop()
        let patient = try await Station(at: address) { $0.proxy = { _ in way } }
        try await until { await patient.messenger.status().state == .connecting }
        let begun = ContinuousClock.now
        try await patient.stop()
        #expect(.now - begun < .seconds(10))
    }

    @Test("a broker behind WebSocket that no longer answers is noticed, and one that was killed")
    func vanished() async throws {
        let broker = try await TestBroker(Self.webSocket)
        let address = broker.address
        let station = try await Station(at: broker.address) { $0.keepAlive = .seconds(5) }
        try await station.waitUntilConnected()
        let events = station.messenger.events.subscribe()
        broker.freeze()
        let error = await Station.first(of: events) { if case .failed(let error, _) = $0 { error } else { nil } }
        #expect(error == .connectionLost(address, reason: "it did not answer a ping"))
        broker.thaw()
        try await station.waitUntilConnected()
        broker.kill()
        let next = await Station.first(of: events) { if case .failed(let error, _) = $0 { error } else { nil } }
        #expect(next?.code == "messaging.connection-lost" || next?.code == "messaging.cannot-connect")
    }
}
