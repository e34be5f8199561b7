import Foundation
import GatewayLab
import TestSupport
import Testing

/// Programs of other users at the local API of a running daemon.
@Suite("Local programs", .serialized, .timeLimit(.minutes(15)))
struct LocalProgramTests {
    /// A user of Debian's who may publish and read, and is not an owner.
    private static let guest = "games"

    /// A board that lets the guest in, registered and connected.
    private func withGuest(_ body: (Lab, TestBoard) async throws -> Void) async throws {
        let prepared = try TestBoard()
        try String(contentsOf: prepared.configuration, encoding: .utf8)
            .replacingOccurrences(
                of: "[api]\n",
                with: """
                    [api]
                    group = "nogroup"
                    read = ["\(Self.guest)"]
                    publish = ["\(Self.guest)"]

                    """
            )
            .write(to: prepared.configuration, atomically: true, encoding: .utf8)
        // Others have to reach the socket in it.
        chmod(prepared.folder.path, 0o755)
        try await withLabAndBoard(board: prepared) { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            try await body(lab, board)
        }
    }

    /// A request of the guest's. - Returns: the answer, and its status in a line of its own.
    private func ask(_ board: TestBoard, _ target: String, posting body: String, type: String = "application/json")
        async throws -> String
    {
        let curl = try RunningProgram(
            URL(filePath: "/usr/bin/setpriv"),
            [
                "--reuid=\(Self.guest)", "--regid=nogroup", "--clear-groups", "curl", "-sS", "-m", "150", "-w",
                "\n%{http_code}",
                "-H", "Content-Type: \(type)", "--data-binary", body, "--unix-socket", board.socket,
                "http://localhost\(target)",
            ])
        #expect(try await curl.ended() == 0)
        return curl.output.text
    }

    @Test(
        "local programs cannot publish telemetry and presence unless they are owners, by any route or spelling",
        .enabled(if: getuid() == 0, "asks as another user"))
    func reservedTopics() async throws {
        try await withGuest { _, board in
            let device = try #require(try await board.status().registration.deviceID)
            let attempts = [
                ("/v1/messages", #"{"topic":"status","payload":"offline","retain":true}"#, "application/json"),
                ("/v1/messages", #"{"topic":"telemetry","payload":"{}"}"#, "application/json"),
                (
                    "/v1/messages",
                    #"{"topic":"/2.0/client/devices/\#(device)/custom/status","raw":true,"payload":"offline"}"#,
                    "application/json"
                ),
                ("/v1/messages/lines?topic=status", "offline\n", "text/plain"),
                (
                    "/v1/messages/lines?raw=true&topic=/2.0/client/devices/\(device)/custom/telemetry", "{}\n",
                    "text/plain"
                ),
                ("/v1/send", #"{"device":"\#(device)","topic":"status","payload":"offline"}"#, "application/json"),
            ]
            for (target, body, type) in attempts {
                let answer = try await ask(board, target, posting: body, type: type)
                #expect(
                    answer.hasSuffix("\n403") && answer.contains("agent.topic-reserved"), "\(target) \(body): \(answer)"
                )
            }
            #expect(
                try await ask(board, "/v1/messages", posting: #"{"topic":"status/door","payload":"open"}"#).hasSuffix(
                    "\n202"))
            #expect(try await board.latchkey("publish", "status", "by the owner").status == 0)
        }
    }

    @Test(
        "local programs that misspell a member get an error, and nothing is accepted",
        arguments: [
            ("/v1/messages", #"{"topic":"door","payload":"open","retian":true}"#),
            ("/v1/reset", #"{"force":true}"#),
            ("/v1/call", #"{"method":"GET","path":"/lab/hello","headers":[{"name":"a","value":"b","values":"c"}]}"#),
        ])
    func unknownMember(target: String, body: String) async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            let connected = try await board.status { $0.isConnected }
            #expect(try await LocalRequest.post(body, to: target, socket: board.socket) == 400)
            let status = try await board.status()
            #expect(status.registration.state == "registered")
            #expect(connected.registration.deviceID == status.registration.deviceID)
        }
    }

    @Test("local programs that disconnect before consent is answered withdraw their question")
    func withdrawnQuestion() async throws {
        try await withLabAndBoard(settings: "[proximity]\nconsent_seconds = 110") { lab, board in
            _ = try await board.enroll(at: lab)
            #expect(
                try await board.latchkey("login", "--user", "alice", "--password-stdin", input: "alice-password\n")
                    .status == 0)
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            let asking = try board.follow(
                "authorize", "\(lab.baseURL)/auth/device/authorization/0123456789abcdef0123456789abcdef")
            _ = try await events.output.line(containing: "proximity.consent-asked")
            let start = ContinuousClock.now
            try await asking.stop(SIGKILL)
            let answered = try await events.output.line(containing: "proximity.consent-answered")
            print("withdrawn after \((ContinuousClock.now - start) / .milliseconds(1)) ms")
            #expect(answered.contains(#""decision":"withdrawn""#), "\(answered)")
            #expect(try await (board.ask("consent")["consents"] as? [Any])?.isEmpty == true)
            try await events.stop(SIGKILL)
        }
    }

    @Test(
        "local programs that read slowly use a bounded share of memory, even with all streams of one user",
        .enabled(if: getuid() == 0 && !Program.isSanitized, "asks as another user, and weighs the daemon"))
    func slowReaders() async throws {
        try await withGuest { _, board in
            let script = """
                import json, os, pwd, signal, socket, sys
                path, user = sys.argv[1], pwd.getpwnam(sys.argv[2])
                os.setgroups([]); os.setgid(pwd.getpwnam("nobody").pw_gid); os.setuid(user.pw_uid)
                held = []
                for n in range(9):
                    made = socket.socket(socket.AF_UNIX)
                    made.connect(path)
                    made.sendall(f"GET /v1/messages?filter=big/{n}/%23 HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n".encode())
                    got = b""
                    while b"event: subscribed" not in got: got += made.recv(4096)
                    held.append(made)
                for n in range(9 * 36):
                    body = json.dumps({"topic": f"big/{n % 9}/{n}", "payload": "A" * 250000}).encode()
                    status = b""
                    # The outbox takes no more for a moment when the broker is slower than this.
                    while status != b"HTTP/1.1 202":
                        asked = socket.socket(socket.AF_UNIX)
                        asked.connect(path)
                        asked.sendall(b"POST /v1/messages HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n"
                            b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
                        status = asked.recv(12)
                        assert status in (b"HTTP/1.1 202", b"HTTP/1.1 507"), (n, status)
                print("published", flush=True)
                signal.pause()
                """
            let process = try #require(board.daemon?.processIdentifier)
            let before = try Self.weight(of: process)
            let readers = try RunningProgram(
                URL(filePath: "/usr/bin/python3"), ["-c", script, board.socket, Self.guest])
            _ = try await readers.output.line(containing: "published")
            // All have come back from the broker when the daemon has received them.
            _ = try await board.status { status in
                (status.broker?.received ?? 0) >= 9 * 36 && status.outbox?.depth == 0
            }
            let after = try Self.weight(of: process)
            try await readers.stop(SIGKILL)
            print("anonymous memory: \(before) kB before, \(after) kB with nine slow readers of 9 MB each")
            #expect(after - before < 48 << 10)
        }
    }

    /// Anonymous memory of a process, in kB.
    private static func weight(of process: pid_t) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
        return line.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }
}
