import Foundation
import GatewayLab
import TestSupport
import Testing

/// The board's figures, as monitoring tools read them.
@Suite("Metrics", .serialized, .timeLimit(.minutes(15)))
struct MetricsTests {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "metrics.py").path
    private static let token = "0123456789abcdef0123456789abcdef"

    /// What the parser of Prometheus' own client finds in a text, by names and labels.
    private func parsed(_ text: String, _ form: String = "openmetrics") async throws -> [String: Double] {
        let result = try await Program(url: URL(filePath: "/usr/bin/python3")).run(
            ["-B", Self.script, form], input: text)
        guard result.status == 0 else { throw Unexpected("\(result.errors)\n\(text)") }
        return try result.json.compactMapValues { $0 as? Double }
    }

    @Test("figures of sensors, inbox and brokers are the same in each form, as Prometheus' own parser reads them")
    func figures() async throws {
        let settings = """
            [[inbox]]
            name = "orders"
            filter = "orders"
            [[brokers]]
            name = "plant"
            host = "127.0.0.1"
            port = 1
            tls = false
            """
        try await withLabAndBoard(settings: settings) { lab, board in
            let before = try await parsed(try await board.latchkey("metrics").output)
            #expect(before["latchkey_vault_locked"] == 0)
            #expect(before["latchkey_broker_state{connection=named,latchkey_broker_state=stopped,name=plant}"] == 1)
            #expect(before["latchkey_outbox_messages"] == nil)

            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            #expect(try await board.latchkey("publish", "orders", "one").status == 0)
            _ = try await board.drained()
            // It is there when somebody can read it.
            let following = try board.follow("inbox", "read", "orders", "--follow", "--count", "1")
            #expect(try await following.ended() == 0)

            // Before the figures, as a sensor may be read at any time.
            let answer = try await curl("--unix-socket", board.socket, "http://localhost/v1/sensors")
            let text = try await board.latchkey("metrics").output
            #expect(text.hasSuffix("\n# EOF\n"))
            let found = try await parsed(text)
            for (name, value) in [
                "latchkey_registration{account=gateway,latchkey_registration=registered}": 1,
                "latchkey_registration{account=gateway,latchkey_registration=pending}": 0,
                "latchkey_broker_state{connection=board,latchkey_broker_state=connected,name=gateway}": 1,
                "latchkey_account_stopped{account=gateway}": 0, "latchkey_gateway_failing{account=gateway}": 0,
                "latchkey_user_logged_in{account=gateway}": 0, "latchkey_inbox_messages{inbox=orders}": 1,
                "latchkey_outbox_dropped_messages_total{reason=full}": 0, "latchkey_outbox_limit_bytes": 67_108_864,
            ] as [String: Double] {
                #expect(found[name] == value, "\(name): \(found[name] as Any)")
            }
            for (name, least) in [
                "latchkey_broker_received_messages_total{connection=board,name=gateway}": 1,
                "latchkey_broker_sent_messages_total{connection=board,name=gateway}": 1,
                "latchkey_outbox_accepted_messages_total": 1, "latchkey_outbox_delivered_messages_total": 1,
                "latchkey_certificate_remaining_seconds{account=gateway}": 3600,
                "latchkey_token_remaining_seconds{account=gateway}": 1, "process_start_time_seconds": 1_700_000_000,
                "process_resident_memory_bytes": 1_048_576, "process_open_fds": 5, "process_threads": 2,
                "process_cpu_seconds_total": 0.01,
            ] as [String: Double] {
                #expect(found[name] ?? -1 >= least, "\(name): \(found[name] as Any)")
            }
            // Each sensor of the board has been read, and has its value in one unit.
            let read = try JSONSerialization.jsonObject(with: Data(answer.dropLast("\n200".count).utf8))
            let sensors = try #require(value(read, "readings") as? [[String: Any]])
            #expect(!sensors.isEmpty)
            for case let name as String in sensors.map({ $0["name"] }) {
                #expect(found["latchkey_sensor_readings_total{sensor=\(name)}"] ?? 0 >= 1, "\(name)")
                #expect(found["latchkey_sensor_up{sensor=\(name)}"] == 1, "\(name)")
            }

            let older = try await parsed(try await board.latchkey("metrics", "--prometheus").output, "prometheus")
            #expect(Set(older.keys) == Set(found.keys))
            let families = try #require(try await board.ask("metrics")["metrics"] as? [[String: Any]])
            let samples = families.flatMap { $0["samples"] as? [[String: Any]] ?? [] }
            #expect(samples.count == found.count)
            let locked = families.first { $0["name"] as? String == "latchkey_vault_locked" }
            #expect(locked?["type"] as? String == "gauge")
        }
    }

    @Test("the page about figures names every figure that exists, and the examples name no other")
    func names() async throws {
        let repository = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        func names(in file: String) throws -> Set<String> {
            let text = try String(contentsOf: repository.appending(path: file), encoding: .utf8)
            let words = text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
            return Set(words.filter { $0.hasPrefix("latchkey_") || $0.hasPrefix("process_") })
        }
        let told = try names(in: "Config/metrics.md")
        for example in ["grafana-dashboard.json", "latchkey-alerts.yml"] {
            let used = try names(in: "docs/examples/\(example)")
            #expect(!used.isEmpty && used.isSubset(of: told), "\(example): \(used.subtracting(told))")
        }
        try await withLabAndBoard(settings: "[[inbox]]\nname = \"orders\"\nfilter = \"orders\"\n") { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            let found = try await parsed(try await board.latchkey("metrics").output)
            let shown = Set(found.keys.map { String($0.prefix { $0 != "{" }) })
            #expect(shown.subtracting(told).isEmpty, "\(shown.subtracting(told))")
        }
    }

    /// A board that listens on a port of its own.
    private func withListener(
        mode: Int = 0o600, _ body: (TestBoard, Int, URL) async throws -> Void
    ) async throws {
        let (port, file) = (
            try UnusedPort.reserve(), URL(filePath: "/tmp/lk-token-\(UInt32.random(in: .min ... .max))")
        )
        _ = FileManager.default.createFile(
            atPath: file.path, contents: Data("\(Self.token)\n".utf8), attributes: [.posixPermissions: mode])
        defer { try? FileManager.default.removeItem(at: file) }
        let prepared = try TestBoard()
        try prepared.dropIn(
            "20-listener.toml",
            "[api]\nlisten = \"127.0.0.1:\(port)\"\ntoken_file = \"\(file.path)\"\n")
        try await withLabAndBoard(board: prepared) { _, board in try await body(board, port, file) }
    }

    /// - Returns: the answer, and its status in a line of its own.
    private func curl(_ arguments: String...) async throws -> String {
        let result = try await Program(url: URL(filePath: "/usr/bin/curl")).run(
            [
                "-sS", "-m", "150", "--noproxy", "*", "--retry", "20", "--retry-connrefused", "--retry-delay", "1",
                "-w",
                "\n%{http_code}",
            ]
                + arguments)
        #expect(result.status == 0, "\(arguments): \(result.errors)")
        return result.output
    }

    private static let bearer = "Authorization: Bearer \(token)"

    @Test(
        "figures over TCP need the token, and slow clients do not keep others out")
    func listener() async throws {
        try await withListener { board, port, _ in
            let url = "http://127.0.0.1:\(port)/metrics"
            let answer = try await curl("-H", Self.bearer, url)
            #expect(answer.hasSuffix("# EOF\n\n200"))
            #expect(try await parsed(String(answer.dropLast("\n200".count)))["latchkey_vault_locked"] == 0)
            #expect(
                try await curl("-H", Self.bearer, "-H", "Accept: text/plain", url).contains(
                    "# TYPE latchkey_build_info gauge"))
            #expect(
                try await curl("-H", Self.bearer, "-I", url).contains(
                    "application/openmetrics-text; version=1.0.0; charset=utf-8"))
            #expect(try await curl(url).hasSuffix("\n401"))
            #expect(try await curl("-H", Self.bearer + "0", url).hasSuffix("\n401"))
            // Who is refused keeps no place.
            #expect(try await curl("-i", url).lowercased().contains("\r\nconnection: close\r\n"))
            #expect(try await curl("-H", Self.bearer, "-H", "Host: evil.example", url).hasSuffix("\n403"))
            #expect(try await curl("-H", Self.bearer, "http://127.0.0.1:\(port)/v1/status").hasSuffix("\n404"))
            #expect(try await curl("-H", Self.bearer, "-d", "x", url).hasSuffix("\n405"))

            // Clients that say little, or nothing that is HTTP, take most of the places.
            let script = """
                import signal, socket, sys
                held = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(15)]
                for one in held[::2]: one.sendall(b"GET /metrics HTTP/1.1\\r\\nHost: 127.0")
                for one in held[1:6:2]: one.sendall(bytes(range(256)) * 16)
                print("held", flush=True)
                signal.pause()
                """
            let slow = try RunningProgram(URL(filePath: "/usr/bin/python3"), ["-c", script, "\(port)"])
            _ = try await slow.output.line(containing: "held")
            #expect(try await curl("-H", Self.bearer, url).hasSuffix("\n200"))
            try await slow.stop(SIGKILL)

            let doctor = try await board.latchkey("doctor").output
            #expect(doctor.contains("pass  api-listener: listens on 127.0.0.1:\(port)"))
            #expect(board.daemon?.errors.text.contains(Self.token) == false)
        }
    }

    @Test(
        "a token file for figures that others may read is refused, and the agent runs without the listener")
    func openToken() async throws {
        try await withListener(mode: 0o644) { board, port, file in
            _ = try await board.daemon?.errors.line(containing: "api.token-unusable")
            let doctor = try await board.latchkey("doctor")
            #expect(
                doctor.status == 1 && doctor.output.contains("fail  api-listener")
                    && doctor.output.contains(file.path))
            #expect(try await board.latchkey("metrics").status == 0)
            chmod(file.path, 0o600)
            #expect(try await curl("-H", Self.bearer, "http://127.0.0.1:\(port)/metrics").hasSuffix("\n200"))
        }
    }

    @Test(
        "the token of a user of the settings has that user's rights at the local API, and never operates",
        .enabled(if: getuid() == 0, "the agent's own user may do everything"))
    func user() async throws {
        let (port, file) = (
            try UnusedPort.reserve(), URL(filePath: "/tmp/lk-token-\(UInt32.random(in: .min ... .max))")
        )
        _ = FileManager.default.createFile(
            atPath: file.path, contents: Data(Self.token.utf8), attributes: [.posixPermissions: 0o600])
        defer { try? FileManager.default.removeItem(at: file) }
        let prepared = try TestBoard()
        try prepared.dropIn(
            "20-listener.toml",
            """
            [api]
            listen = "127.0.0.1:\(port)"
            token_file = "\(file.path)"
            token_user = "games"
            read = ["games"]
            publish = ["games"]
            operate = ["games"]
            """)
        try await withLabAndBoard(board: prepared) { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            let api = "http://127.0.0.1:\(port)"
            #expect(try await curl("-H", Self.bearer, "\(api)/v1/status").hasSuffix("\n200"))
            #expect(try await curl("-H", Self.bearer, "\(api)/metrics").hasSuffix("\n200"))
            #expect(
                try await curl("-H", Self.bearer, "-d", #"{"topic":"door","payload":"open"}"#, "\(api)/v1/messages")
                    .hasSuffix("\n202"))
            let status = #"{"topic":"status","payload":"offline"}"#
            #expect(
                try await curl("-H", Self.bearer, "-d", status, "\(api)/v1/messages").contains("agent.topic-reserved"))
            for target in ["/v1/renew", "/v1/reset", "/v1/deregister"] {
                #expect(
                    try await curl("-H", Self.bearer, "-d", "{}", "\(api)\(target)").hasSuffix("\n403"), "\(target)")
            }
            // The console's session would have the right to operate, which the user has elsewhere.
            #expect(try await curl("-H", Self.bearer, "-d", "{}", "\(api)/v1/console").hasSuffix("\n404"))
            #expect(
                try await curl("-H", Self.bearer, "-d", #"{"method":"GET","path":"/lab/hello"}"#, "\(api)/v1/call")
                    .hasSuffix("\n403"))
            #expect(
                try await curl("-d", #"{"topic":"door","payload":"open"}"#, "\(api)/v1/messages").hasSuffix("\n401"))
            let stream = try RunningProgram(
                URL(filePath: "/usr/bin/curl"),
                ["-sSN", "--noproxy", "*", "-H", Self.bearer, "\(api)/v1/messages?filter=door"])
            _ = try await stream.output.line(containing: "event: subscribed")
            #expect(try await board.latchkey("publish", "door", "closed").status == 0)
            _ = try await stream.output.line(containing: "closed")
            try await stream.stop(SIGKILL)
        }
    }
}
