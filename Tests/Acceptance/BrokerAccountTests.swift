import Cryptography
import Foundation
import TestSupport
import Testing

/// Boards without a gateway, whose messages go to a broker of their owner's.
@Suite("Accounts at a broker", .timeLimit(.minutes(8)))
struct BrokerAccountTests {
    private static let tokenServer = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "token_server.py")

    /// Gives `body` a board that is enrolled nowhere, and a folder.
    func withBoard(
        settings: String = "", isStarted: Bool = true, _ body: (TestBoard, URL) async throws -> Void
    ) async throws {
        let started = StartedPrograms()
        defer { started.endAll() }
        let board = try TestBoard(settings: settings)
        do {
            try await StartedPrograms.$here.withValue(started) {
                let folder = board.folder.appending(path: "broker")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                if isStarted { try await board.start() }
                try await body(board, folder)
            }
        } catch {
            let failure = board.withLastWords(error)
            try? await board.tearDown()
            throw failure
        }
        try await board.tearDown()
    }

    @Test("a board without a gateway gets a broker while it runs, and its readings, messages and inboxes go there")
    func whole() async throws {
        try await withBoard { board, folder in
            let broker = try await OtherBroker(in: folder, users: ["board": "right horse"])
            let viewer = try await broker.observe("sites/#", as: "board", "right horse")
            let added = try await board.latchkey(
                "accounts", "add", "home", "--broker", "mqtt://\(broker.address)", "--user", "board",
                "--password-stdin", "--client-id", "pump", "--topics", "sites/{device}/{name}", "--json",
                input: "right horse\n")
            #expect(added.status == 0, "\(added.errors)")
            #expect(value(try added.json, "broker", "state") as? String == "connected")
            #expect(try added.json["usesBroker"] as? Bool == true)
            _ = try await viewer.output.line(containing: "sites/pump/status online")
            _ = try await viewer.output.line(containing: "sites/pump/telemetry {")
            #expect(try await board.latchkey("publish", "door", "open").status == 0)
            _ = try await viewer.output.line(containing: "sites/pump/door open")
            // By the name of the account too, over the same connection.
            #expect(try await board.latchkey("publish", "--broker", "home", "sites/all", "hello").status == 0)
            _ = try await viewer.output.line(containing: "sites/all hello")
            #expect(try await broker.connections(of: "pump", atLeast: 1) == 1)

            #expect(try await board.latchkey("inbox", "add", "orders", "orders/#").status == 0)
            try await broker.publish("stop", to: "sites/pump/orders/1", as: "board", "right horse")
            let orders = try await board.latchkey("inbox", "read", "orders", "--count", "1")
            #expect(orders.output.contains("stop"), "\(orders.errors)")

            let refused = try await board.latchkey("send", "--user", "alice", "hello", "--json")
            #expect(refused.errors.contains("messaging.invalid-receiver"), "\(refused.errors)")
            let user = try await board.latchkey("publish", "--as", "user", "a", "x", "--json")
            #expect(user.errors.contains("account."), "\(user.errors)")
            #expect(try await board.latchkey("status", "--quiet").status == 0)
            let checks = try await board.latchkey("doctor")
            #expect(checks.output.contains("the board's broker needs none"), "\(checks.output)")
            #expect(board.daemon?.errors.text.contains("right horse") == false, "the log holds the password")
        }
    }

    @Test("what an account at a broker has accepted survives a kill and the broker's absence, under the same identity")
    func promises() async throws {
        try await withBoard(settings: "[telemetry]\nenabled = false\n") { board, folder in
            let broker = try await OtherBroker(in: folder)
            let url = "mqtt://\(broker.address)"
            let added = try await board.ask("accounts", "add", "home", "--broker", url)
            let identity = try #require(value(added, "broker", "clientID") as? String)
            try await broker.program.stop()
            for number in 1...20 {
                let result = try await board.latchkey("publish", "count", "n\(number);")
                #expect(result.status == 0, "\(result.errors)")
            }
            try await board.stop(SIGKILL)
            try await broker.restart()
            let viewer = try await broker.observe("latchkey/+/count")
            try await board.start()
            for number in 1...20 {
                _ = try await viewer.output.line(containing: "latchkey/\(identity)/count n\(number);")
            }
        }
    }

    @Test("a board shows its broker a certificate whose key is in the sealed store alone")
    func certificate() async throws {
        try await withBoard { board, folder in
            let authority = try TestAuthority()
            let ca = folder.appending(path: "ca.pem")
            try authority.certificate.pem.write(to: ca, atomically: true, encoding: .utf8)
            let broker = try await OtherBroker(
                in: folder, authority: authority,
                settings: ["cafile \(ca.path)", "require_certificate true", "use_identity_as_username true"])
            let identity = try authority.identity("pump-7", usage: .client)
            let (certificate, key) = (folder.appending(path: "board.pem"), folder.appending(path: "board.key"))
            try identity.chain[0].pem.write(to: certificate, atomically: true, encoding: .utf8)
            let secret = try identity.keyPEM
            try secret.write(to: key, atomically: true, encoding: .utf8)
            let url = "mqtts://\(broker.address)"
            let without = try await board.latchkey(
                "accounts", "add", "bare", "--broker", url, "--authorities", ca.path, "--json")
            #expect(value(try without.json, "broker", "state") as? String != "connected")
            #expect(try await board.latchkey("accounts", "remove", "bare").status == 0)

            let added = try await board.latchkey(
                "accounts", "add", "home", "--broker", url, "--authorities", ca.path, "--certificate",
                certificate.path, "--key", key.path, "--json")
            #expect(value(try added.json, "broker", "state") as? String == "connected", "\(added.output)")
            #expect(value(try added.json, "broker", "login") as? String == "certificate")
            _ = try await broker.program.errors.line(containing: "u'pump-7'")
            try FileManager.default.removeItem(at: key)
            try await board.stop(SIGKILL)
            try await board.start()
            _ = try await board.latchkey("wait", "--for", "broker")
            _ = try await broker.connections(
                of: try #require(value(try added.json, "broker", "clientID") as? String),
                atLeast: 2)

            let body = secret.split(separator: "\n")[1]
            for name in try FileManager.default.contentsOfDirectory(atPath: board.state.path) {
                let content = try? Data(contentsOf: board.state.appending(path: name))
                #expect(content?.range(of: Data(body.utf8)) == nil, "\(name) has the key")
            }
            let stranger = try await board.latchkey(
                "accounts", "add", "other", "--broker", url, "--authorities", ca.path, "--certificate",
                ca.path, "--key", key.path, "--json")
            #expect(stranger.status != 0)
        }
    }

    @Test("a board logs in at a broker with an account's token, and connects anew before each token ends")
    func token() async throws {
        try await withBoard(settings: "[telemetry]\nenabled = false\n") { board, folder in
            let broker = try await OtherBroker(in: folder)
            let server = try RunningProgram(
                URL(filePath: "/usr/bin/python3"),
                ["-B", Self.tokenServer.path, "12"])
            let port = try await server.output.line(containing: "port ").dropFirst(5)
            let made = try await board.latchkey(
                "accounts", "add", "cloud", "--client-id", "board", "--secret-stdin", "--grant",
                "client_credentials", "--endpoint", "token_endpoint=http://127.0.0.1:\(port)/token", input: "s\n")
            #expect(made.status == 0, "\(made.errors)")
            let added = try await board.ask(
                "accounts", "add", "home", "--broker", "mqtt://\(broker.address)", "--token-of", "cloud",
                "--client-id", "pump")
            #expect(value(added, "broker", "login") as? String == "token")
            let plain = try await board.latchkey(
                "accounts", "add", "far", "--broker", "mqtt://broker.invalid", "--token-of", "cloud", "--json")
            #expect(plain.errors.contains("broker.token-without-tls"), "\(plain.errors)")
            #expect(try await broker.connections(of: "pump", atLeast: 3) >= 3, "each of 12 seconds, renewed before")
            #expect(board.daemon?.errors.text.contains("token-1") == false, "the log holds a token")
        }
    }

    @Test("an account at a broker is removed with its messages and its key; the settings' own stay")
    func removal() async throws {
        try await withBoard(
            settings: "[[brokers]]\nname = \"plant\"\nhost = \"127.0.0.1\"\ntls = false\n"
        ) { board, folder in
            let broker = try await OtherBroker(in: folder)
            try await board.ask("accounts", "add", "home", "--broker", "mqtt://\(broker.address)")
            #expect(try await board.latchkey("publish", "a", "x").status == 0)
            let names = try await board.ask("accounts")["accounts"] as? [[String: Any]]
            #expect(names?.compactMap { $0["name"] as? String } == ["home", "plant"])
            let second = try await board.latchkey(
                "accounts", "add", "spare", "--broker", "mqtt://\(broker.address)", "--for-messages", "--json")
            #expect(second.errors.contains("broker.board-has-broker"), "\(second.errors)")
            #expect(try await board.latchkey("accounts", "remove", "home").status == 0)
            let files = try FileManager.default.contentsOfDirectory(atPath: board.state.path)
            #expect(!files.contains { $0.hasPrefix("outbox") || $0.hasPrefix("inbox") }, "\(files)")
            let preset = try await board.latchkey("accounts", "remove", "plant", "--json")
            #expect(preset.errors.contains("broker.in-settings"), "\(preset.errors)")
            let nowhere = try await board.latchkey("publish", "a", "x", "--json")
            #expect(nowhere.status != 0)
        }
    }

    @Test(
        "what is no address of a broker is refused with the reason",
        arguments: [
            "broker.lan", "https://broker.lan", "mqtts://", "mqtts://a:0", "mqtts://user:secret@a", "mqtt://a/b",
        ])
    func addresses(text: String) async throws {
        try await withBoard { board, _ in
            let result = try await board.latchkey("accounts", "add", "home", "--broker", text, "--json")
            #expect(result.status != 0 && result.errors.contains("url"), "\(result.errors)")
            #expect(!result.errors.contains("secret"))
        }
    }
}
