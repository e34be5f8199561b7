import Foundation
import GatewayLab
import Groundwork
import Testing

extension GatewayLabTests {
    /// The broker is Debian's Mosquitto; so are the clients.
    @Suite("Broker of the lab")
    struct BrokerTests {
        /// Exit status of mosquitto_pub when CONNACK says 5, "not authorized".
        static let notAuthorized: Int32 = 5

        @Test("the lab's broker accepts a client with matching token, certificate and client id (MAG checklist 69)")
        func accepts() async throws {
            try await Workshop.open({ $0.broker = true }) { shop in
                let phone = try await Phone(shop)
                var arrivals = shop.lab.arrivals.subscribe().makeAsyncIterator()
                try await phone.publish("/2.0/client/devices/\(phone.deviceID)/custom/telemetry", "21.5", more: ["-r"])
                let message = await arrivals.next()
                #expect(message?.topic == "/2.0/client/devices/\(phone.deviceID)/custom/telemetry")
                #expect(message?.payload == Array("21.5".utf8))
                #expect(message?.qos == 1 && message?.retained == true && message?.size == 4)
                #expect(message?.sender == phone.clientID)
            }
        }

        @Test("the lab's broker refuses wrong, revoked, disabled and expired tokens with CONNACK 5 (MAG checklist 69)")
        func refusesTokens() async throws {
            try await Workshop.open({ $0.broker = true }) { shop in
                let phone = try await Phone(shop)
                try await refused(phone.with { $0.token = "not-a-token" })
                try await refused(phone.with { $0.token = "" })
                try await phone.publish(phone.ownTopic, "1")
                try await shop.lab.disableTokens(of: phone.magIdentifier)
                try await refused(phone)
                try await shop.lab.revokeTokens(of: phone.magIdentifier)
                try await refused(phone)
                let late = try await Phone(shop)
                shop.lab.advanceClock(by: .seconds(shop.lab.configuration.lives.accessToken + 1))
                try await refused(late)
            }
        }

        @Test("the lab's broker refuses a client id or a user name that does not match the token (MAG checklist 69)")
        func refusesNames() async throws {
            try await Workshop.open({ $0.broker = true }) { shop in
                let phone = try await Phone(shop)
                let other = try await Phone(shop, "other")
                let master = MasterClient.agent.clientID
                for clientID in [
                    other.clientID, "anything", "\(phone.magIdentifier)::someone-else",
                    "\(phone.magIdentifier)::\(master)::alice",
                ] {
                    try await refused(phone.with { $0.clientID = clientID })
                }
                try await refused(phone.with { $0.userName = other.deviceID })
                // The user part may repeat the device.
                try await phone.with { $0.clientID += "::\(phone.deviceID)" }.publish(phone.ownTopic, "1")
                let alice = try await Phone(shop, "alice's phone", user: "alice")
                #expect(alice.clientID == "\(alice.magIdentifier)::\(master)::alice")
                try await alice.publish("/2.0/client/users/alice/custom/note", "hi")
                try await refused(alice.with { $0.clientID = "\(alice.magIdentifier)::\(master)" })
            }
        }

        @Test("the lab's broker refuses other, foreign and missing certificates (MAG checklist 69)")
        func refusesCertificates() async throws {
            try await Workshop.open({ $0.broker = true }) { shop in
                let phone = try await Phone(shop)
                let other = try await Phone(shop, "other")
                try await refused(
                    phone.with {
                        $0.certificate = other.certificate
                        $0.key = other.key
                    })
                let (key, certificate) = ("\(shop.directory)/foreign.key", "\(shop.directory)/foreign.pem")
                try await run(
                    "openssl",
                    [
                        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-subj",
                        "/CN=foreign",
                    ])
                let stranger = phone.with {
                    $0.certificate = certificate
                    $0.key = key
                }
                let failure = await #expect(throws: ProgramFailure.self) {
                    try await stranger.publish(phone.ownTopic, "1")
                }
                #expect(failure?.status != Self.notAuthorized)
                let naked = phone.with { $0.certificate = nil }
                await #expect(throws: ProgramFailure.self) { try await naked.publish(phone.ownTopic, "1") }
                #expect(shop.lab.messages.isEmpty)
            }
        }

        @Test("the lab's broker passes messages to the gateway's devices and users, and allows only own subscriptions")
        func topics() async throws {
            try await Workshop.open({ $0.broker = true }) { shop in
                let phone = try await Phone(shop)
                let other = try await Phone(shop, "other")
                for topic in [
                    "/2.0/client/devices/\(other.deviceID)/custom/hello", "/2.0/client/users/bob/custom/hello",
                    "/2.0/users/bob/custom/hello", "/2.0/client/custom/all",
                    "/2.0/client/devices/\(phone.deviceID)/status",
                ] {
                    try await phone.publish(topic, "1")
                    #expect(shop.lab.messages.last?.topic == topic)
                }
                let passed = shop.lab.messages.count
                for topic in [
                    "/2.0/client/devices/unknown/custom/hello", "/2.0/client/devices/\(other.deviceID)/status",
                    "/2.0/client/users/nobody/custom/hello", "/1.0/anything", "free/topic", "$SYS/broker/version",
                ] {
                    // MQTT 3.1.1 has no answer for a message that is not passed on.
                    _ = try? await phone.publish(topic, "1")
                }
                #expect(shop.lab.messages.count == passed)
                for filter in [
                    "#", "/2.0/#", "/2.0/client/devices/+/custom/x", "/2.0/client/devices/\(other.deviceID)/custom/#",
                    "/2.0/client/users/alice/custom/#", "$SYS/#", "$share/g/2.0/client/custom/#",
                ] {
                    let answer = try await phone.subscribe(filter, count: 1)
                    #expect(answer.errors.contains("denied"), "subscription to \(filter)")
                }
            }
        }

        @Test("the lab's broker delivers to the device whose topic it is")
        func delivers() async throws {
            try await Workshop.open({ $0.broker = true }) { shop in
                let phone = try await Phone(shop)
                let board = try await Phone(shop, "board")
                let topic = "/2.0/client/devices/\(board.deviceID)/custom/hello"
                // Retained, so that it does not matter who comes first.
                try await phone.publish(topic, "from the phone", more: ["-r"])
                let got = try await board.subscribe("/2.0/client/devices/\(board.deviceID)/custom/#", count: 1)
                #expect(got.output == "from the phone\n")
            }
        }

        @Test("topics of the lab's broker carry the prefix of the gateway")
        func prefix() async throws {
            try await Workshop.open({
                $0.broker = true
                $0.prefix = "site-7"
            }) { shop in
                let phone = try await Phone(shop)
                try await phone.publish("/site-7/2.0/client/custom/all", "1")
                try await phone.publish("/2.0/client/custom/all", "2")
                #expect(shop.lab.messages.map(\.payload) == [Array("1".utf8)])
            }
        }

        @Test("the lab's broker restarts on the same port with its retained messages, and leaves no process behind")
        func restart() async throws {
            try await Workshop.open({ $0.broker = true }) { shop in
                let phone = try await Phone(shop)
                try await phone.publish(phone.ownTopic, "kept", more: ["-r"])
                await shop.lab.stopBroker()
                await #expect(throws: ProgramFailure.self) { try await phone.publish(phone.ownTopic, "1") }
                try await shop.lab.startBroker()
                #expect(try await phone.subscribe(phone.ownTopic, count: 1).output == "kept\n")
                await shop.lab.stopBroker(abruptly: true)
                try await shop.lab.startBroker()
                try await phone.publish(phone.ownTopic, "again")
            }
        }

        private func refused(_ phone: Phone, sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let failure = await #expect(throws: ProgramFailure.self, sourceLocation: sourceLocation) {
                try await phone.publish(phone.ownTopic, "1")
            }
            #expect(failure?.status == Self.notAuthorized, "\(failure?.errors ?? "")", sourceLocation: sourceLocation)
        }
    }
}

/// A client made at the lab, spoken for by mosquitto_pub and mosquitto_sub.
struct Phone: Sendable {
    var clientID: String
    var userName: String
    var token: String
    var deviceID: String
    var magIdentifier: String
    /// PEM files; without a certificate no key is shown either.
    var certificate: String?
    var key: String
    private let server: [String]

    init(_ shop: Workshop, _ name: String = "phone", user: String? = nil) async throws {
        let client = try await shop.lab.makeClient(named: name, user: user)
        let base = "\(shop.directory)/\(UUID().uuidString)"
        for (suffix, text) in [
            ("pem", client.certificatePEM), ("key", client.privateKeyPEM), ("ca", shop.lab.caCertificatePEM),
        ] {
            try text.write(toFile: "\(base).\(suffix)", atomically: true, encoding: .utf8)
        }
        clientID = client.clientID
        userName = client.userName
        token = client.accessToken
        deviceID = client.deviceID
        magIdentifier = client.magIdentifier
        certificate = "\(base).pem"
        key = "\(base).key"
        server = ["-h", "localhost", "-p", "\(shop.lab.brokerPort ?? 0)", "--cafile", "\(base).ca"]
    }

    var ownTopic: String { "/2.0/client/devices/\(deviceID)/custom/own" }

    func with(_ change: (inout Phone) -> Void) -> Phone {
        var copy = self
        change(&copy)
        return copy
    }

    /// With QoS 1, so that the broker has decided when it returns.
    func publish(_ topic: String, _ payload: String, more: [String] = []) async throws {
        try await run("mosquitto_pub", arguments(topic) + ["-q", "1", "-m", payload] + more)
    }

    /// A message a line, with QoS 1.
    func publish(_ topic: String, lines: String) async throws {
        try await run("mosquitto_pub", arguments(topic) + ["-q", "1", "-l"], input: Array(lines.utf8))
    }

    /// Publishes, and returns with the first message at the other topic.
    func ask(_ topic: String, _ payload: String, answeredAt answer: String) async throws -> Finished {
        try await run("mosquitto_rr", arguments(topic) + ["-q", "1", "-m", payload, "-e", answer, "-W", "10"])
    }

    /// Returns when `count` messages have come.
    func subscribe(_ filter: String, count: Int) async throws -> Finished {
        try await run("mosquitto_sub", arguments(filter) + ["-C", "\(count)", "-W", "10", "-q", "1"])
    }

    /// A subscriber that stays until it is told to go.
    func stay() throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["mosquitto_sub"] + arguments(ownTopic)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    private func arguments(_ topic: String) -> [String] {
        let login = token.isEmpty ? ["-u", userName] : ["-u", userName, "-P", token]
        let shown = certificate.map { ["--cert", $0, "--key", key] } ?? []
        return server + ["-i", clientID, "-t", topic] + login + shown
    }
}
