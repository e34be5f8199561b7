import Foundation
import GatewayLab
import Glibc
import TestSupport
import Testing

/// Calls of local programs that never see a token, by the forward proxy; and who may make which.
@Suite("Forward proxy and grants", .serialized, .timeLimit(.minutes(15)))
struct ProxyTests {
    /// A user of every Debian system, and a group whose members may use the sockets of these tests.
    static let (games, daemon, group) = (5, 1, "60")

    /// A registered board with a proxy, where alice is logged in.
    static func withProxy(
        _ settings: String = "", _ body: (Lab, TestBoard, ProxyCaller) async throws -> Void
    ) async throws {
        try await withSocket { socket, proxy in
            try await CallBoard.withUser(settings: proxy + settings) { lab, board in
                try await body(lab, board, ProxyCaller(socket: socket, board: board))
            }
        }
    }

    /// A socket that other users can reach, in a folder of its own, and the settings of a proxy there.
    static func withSocket(_ body: (_ socket: String, _ settings: String) async throws -> Void) async throws {
        let folder = "/tmp/lk-proxy-\(UInt32.random(in: .min ... .max))"
        mkdir(folder, 0o755)
        chmod(folder, 0o755)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let socket = folder + "/proxy.sock"
        try await body(socket, "[proxy]\nenabled = true\nsocket = \"\(socket)\"\ngroup = \"games\"\n")
    }

    @Test("a request to the proxy is made with the agent's credentials, and its sender's own go no further")
    func plain() async throws {
        try await Self.withProxy { lab, board, caller in
            let hello = try await caller.run("http://gateway/lab/hello")
            #expect(try hello.json["user"] as? String == "alice", "\(hello.output) \(hello.errors)")
            let token = try #require(try await board.ask("token")["accessToken"] as? String)
            let echo = try await caller.run(
                "-H", "Authorization: Bearer mine", "-H", "mag-identifier: mine", "-H", "Connection: x-hop, close",
                "-H", "X-Hop: secret", "-H", "X-End: kept", "-H", "TE: trailers", "-d", "content",
                "http://gateway/lab/echo?a=b%20c")
            let answer = try echo.json
            let headers = try #require(answer["headers"] as? [String: String])
            #expect(headers["authorization"] != "Bearer mine" && headers["mag-identifier"] != "mine")
            #expect(headers["x-hop"] == nil && headers["te"] == nil && headers["connection"] == nil)
            #expect(headers["x-end"] == "kept" && answer["body"] as? String == "content")
            #expect(answer["query"] as? String == "a=b%20c")
            // As a proxy is spoken to, whatever Host says.
            let absolute = try await caller.run(
                "--request-target", "http://gateway/lab/hello", "-H", "Host: api.example", "http://localhost/")
            #expect(try absolute.json["user"] as? String == "alice")
            let head = try await caller.run("-I", "http://gateway/lab/file/1000")
            #expect(!head.output.contains(token) && !hello.output.contains(token))
            let log = try #require(board.daemon?.errors.text)
            #expect(!log.contains(token) && !log.contains("Bearer mine"))
        }
    }

    @Test("programs of two users may do what the settings grant, and other attempts are refused and recorded")
    func settings() async throws {
        let grants = """
            [[grants]]
            name = "sensors"
            user = "games"
            paths = ["/lab/hello", "/lab/file/*"]
            [[grants]]
            name = "orders"
            user = "daemon"
            as = ["user"]
            token = true
            scopes = ["email"]
            [programs]
            ask_seconds = 0
            """
        try await Self.withProxy(grants) { lab, board, caller in
            let sensors = try await caller.run("http://gateway/lab/hello", as: Self.games)
            #expect(try sensors.json["user"] is NSNull, "the board's token: \(sensors.output)")
            let orders = try await caller.run("http://gateway/lab/hello", as: Self.daemon)
            #expect(try orders.json["user"] as? String == "alice", "\(orders.output)")
            #expect(try await caller.status("/lab/echo", as: Self.games) == "403")
            #expect(try await caller.status("/lab/echo", as: Self.daemon, "-d", "x") == "200")
            #expect(try await caller.status("/lab/file/10", as: Self.games) == "200")
            #expect(try await caller.status("/lab/hello", as: 2) == "403")
            #expect(try await caller.status("/lab/hello") == "200", "root may everything")
            let outside = ["setpriv", "--reuid=2", "--regid=2", "--clear-groups"]
            let closed = try await Program.found.run(
                outside + ["curl", "-sS", "--unix-socket", caller.socket, "http://gateway/lab/hello"])
            #expect(closed.status == 7, "who is not in the group of the socket cannot connect: \(closed.errors)")

            let listed = try #require(try await board.ask("grants")["grants"] as? [[String: Any]])
            #expect(listed.map { $0["id"] as? String } == ["sensors", "orders"])
            #expect(listed.map { $0["uses"] as? Int } == [2, 2])
            let shown = try await board.latchkey("grants").output.split(separator: "\n")
            let line =
                "sensors: games (uid 5), as board, gateway /lab/hello, /lab/file/*, in the settings, used 2 times"
            #expect(shown.first.map(String.init) == line)
            let refused = try await board.latchkey("grants", "revoke", "sensors")
            #expect(refused.status != 0 && refused.errors.contains("the grant sensors comes from the settings"))
            let records = try #require(try await board.ask("grants", "log")["records"] as? [[String: Any]])
            #expect(try await board.latchkey("grants", "log").output.contains(": games (uid 5), "))
            func count(_ outcome: String, _ uid: Int) -> Int {
                records.count { $0["outcome"] as? String == outcome && $0["uid"] as? Int == uid }
            }
            #expect(count("used", Self.games) == 1 && count("used", Self.daemon) == 1)
            #expect(count("refused", Self.games) == 1 && count("refused", 2) == 1 && count("used", 0) == 0)
        }
    }

    @Test("programs get calls and tokens by the local API as granted, without the right to operate")
    func localAPI() async throws {
        try await Self.withProxy { lab, board, _ in
            let socket = board.socket
            chmod(socket, 0o666)
            chmod(board.folder.path, 0o755)
            func ask(_ uid: Int, _ arguments: String...) async throws -> String {
                try await Program.found.run(
                    [
                        "setpriv", "--reuid=\(uid)", "--regid=\(uid)", "--clear-groups", "curl", "-sS", "-m", "150",
                        "-w", "%{http_code}",
                        "--unix-socket", socket,
                    ] + arguments
                ).output
            }
            let hello = #"{"method":"GET","path":"/lab/hello"}"#
            let closed = try await ask(Self.games, "-d", hello, "http://localhost/v1/call")
            #expect(closed.contains("local-api.access-denied") && closed.hasSuffix("403"))
            _ = try await board.ask("grants", "allow", "--user", "games", "--path", "/lab/hello")
            let called = try await ask(Self.games, "-d", hello, "http://localhost/v1/call")
            #expect(called.hasSuffix("200") && called.contains(#""as":"board""#), "\(called)")
            let user = #"{"method":"GET","path":"/lab/hello","as":"user"}"#
            #expect(try await ask(Self.games, "-d", user, "http://localhost/v1/call").contains("grants.missing"))
            let elsewhere = #"{"method":"GET","path":"/lab/echo"}"#
            #expect(
                try await ask(Self.games, "-d", elsewhere, "http://localhost/v1/call/stream").contains("grants.missing")
            )
            #expect(try await ask(Self.games, "http://localhost/v1/token").contains("grants.missing"))
            _ = try await board.ask(
                "grants", "allow", "--user", "games", "--as", "user", "--token", "--path", "/lab/orders")
            let token = try await ask(Self.games, "http://localhost/v1/token")
            #expect(token.hasSuffix("200") && token.contains(#""as":"user""#))
            #expect(try await ask(Self.games, "http://localhost/v1/token?as=board").contains("grants.missing"))
            #expect(try await ask(Self.games, "-X", "POST", "http://localhost/v1/token/refresh").hasSuffix("403"))
            let signed = #"{"method":"POST","path":"/lab/hello","json":{},"sign":{}}"#
            #expect(
                try await ask(Self.games, "-d", signed, "http://localhost/v1/call").contains("local-api.access-denied"))
            // What is granted does not let a program manage the board.
            #expect(try await ask(Self.games, "-X", "DELETE", "http://localhost/v1/token").hasSuffix("403"))
            _ = try await board.ask("grants", "allow", "--user", "games")
            let remove = #"{"method":"DELETE","path":"/connect/device/remove"}"#
            #expect(try await ask(Self.games, "-d", remove, "http://localhost/v1/call").contains("grants.reserved"))
        }
    }

    @Test("a revoked grant ends the download under way, and the next request of an open connection")
    func revoked() async throws {
        try await Self.withProxy { lab, board, caller in
            // The first that fits is the user's; what is left after it is the board's.
            let id = try #require(
                try await board.ask("grants", "allow", "--user", "games", "--as", "user", "--path", "/lab/*")["id"]
                    as? String)
            let other = try #require(
                try await board.ask("grants", "allow", "--user", "games", "--path", "/lab/*")["id"] as? String)
            let pipes = ["keep", "download"].map { "/tmp/lk-\($0)-\(UInt32.random(in: .min ... .max))" }
            defer { for pipe in pipes { unlink(pipe) } }
            for pipe in pipes {
                mkfifo(pipe, 0o600)
                chmod(pipe, 0o666)
            }
            func start(_ kind: String, _ pipe: String) throws -> RunningProgram {
                let script = ["python3", "-B", ProxyCaller.scriptPath, kind, caller.socket, pipe]
                return try RunningProgram(URL(filePath: "/usr/bin/env"), script + ["\(Self.games)", Self.group])
            }
            let (keep, download) = (try start("keep", pipes[0]), try start("download", pipes[1]))
            _ = try await keep.output.line(containing: "200 open")
            _ = try await download.output.line(containing: "begun")
            #expect(try await board.latchkey("grants", "revoke", id).status == 0)
            try "\n".write(toFile: pipes[1], atomically: false, encoding: .utf8)
            _ = try await download.output.line(containing: "broken")
            #expect(try await download.ended() == 0)
            let rest = try await caller.run("http://gateway/lab/hello", as: Self.games)
            #expect(try rest.json["user"] is NSNull, "\(rest.output)")
            #expect(try await board.latchkey("grants", "revoke", other).status == 0)
            try "\n".write(toFile: pipes[0], atomically: false, encoding: .utf8)
            _ = try await keep.output.line(containing: "403 ")
            #expect(try await keep.ended() == 0)
        }
    }

    @Test("a thousand proxied requests whose token the gateway has withdrawn cause one refresh")
    func storm() async throws {
        try await Self.withProxy { lab, board, caller in
            #expect(try await caller.status("/lab/hello") == "200")
            try await lab.revokeTokens()
            let before = await lab.accessTokens().count
            let storm = try await caller.script("storm", caller.socket, "1008")
            #expect(storm.status == 0, "\(storm.errors)")
            #expect(await lab.accessTokens().count == before + 1)
        }
    }

    @Test("bodies of any size pass the proxy both ways in little memory, with a length and in chunks")
    func large() async throws {
        let length = 12_000_000
        try await Self.withProxy { lab, board, caller in
            let path = board.folder.appending(path: "large").path
            let file = URL(filePath: path)
            let process = try #require(board.daemon?.processIdentifier)
            let first = try await caller.run("-o", path, "http://gateway/lab/file/\(length)")
            #expect(first.status == 0, "\(first.errors)")
            let content = try Data(contentsOf: file)
            #expect(content.count == length)
            let before = try Self.weight(of: process)
            let (hash, url) = (sha256(of: content), "http://gateway/lab/upload")
            let known = try await caller.run("-T", path, url)
            #expect(try known.json["sha256"] as? String == hash, "\(known.errors) \(known.output.prefix(300))")
            let chunked = try await caller.run("-H", "Transfer-Encoding: chunked", "-T", path, url)
            #expect(try chunked.json["sha256"] as? String == hash, "\(chunked.errors) \(chunked.output.prefix(300))")
            #expect(try await caller.run("-o", path, "http://gateway/lab/file/\(length)").status == 0)
            let after = try Self.weight(of: process)
            print("anonymous memory: \(before) kB, and \(after) kB after 36 MB through the proxy")
            #expect(after - before < 8 << 10)
            #expect(sha256(of: try Data(contentsOf: file)) == hash)
        }
    }

    @Test("a client of the proxy that hardly reads has the server wait, and costs little memory")
    func unread() async throws {
        try await Self.withProxy { lab, board, caller in
            let process = try #require(board.daemon?.processIdentifier)
            let url = "http://gateway/lab/file/60000000"
            // The first answer has everything loaded that answers need.
            _ = try await caller.run("-o", "/dev/null", "http://gateway/lab/file/100000")
            let before = try Self.weight(of: process)
            let watcher = Task {
                var most = 0
                while !Task.isCancelled {
                    most = max(most, try Self.weight(of: process))
                    try? await Task.sleep(for: .milliseconds(20))
                }
                return most
            }
            // A byte a second: what fits into buffers, and then nothing.
            let result = try await caller.run("--limit-rate", "1", "--max-time", "5", "-o", "/dev/null", url)
            watcher.cancel()
            let most = try await watcher.value
            print("anonymous memory: \(before) kB, and at most \(most) kB for a client that does not read")
            #expect(result.status == 28, "\(result.errors)")
            #expect(most - before < 8 << 10)
        }
    }

    @Test("the proxy refuses bad framing, other targets and token leaks, and passes no smuggled request")
    func hostile() async throws {
        try await Self.withProxy { lab, board, caller in
            let result = try await caller.script("hostile", caller.socket)
            #expect(result.status == 0, "\(result.output) \(result.errors)")
            #expect(try await board.status().registration.state == "registered")
            #expect(try await caller.status("/lab/hello") == "200")
        }
    }

    /// Anonymous memory of a process, in kB.
    private static func weight(of process: pid_t) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
        return line.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }
}
