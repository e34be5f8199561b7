import Foundation
import Glibc
import Groundwork
import TestSupport
import Testing

@testable import LocalAPI

/// The console's listener, asked over raw sockets by programs that are not its page.
@Suite("The console's listener", .timeLimit(.minutes(5)))
struct ConsoleTests {
    private typealias Asked = ServedConsole

    @Test("the console's page is served to anybody, with a strict policy, and holds nothing of the board")
    func page() async throws {
        let console = ServedConsole()
        let port = try await console.offer().port
        let answer = try await Asked.ask(port, "GET", "/", origin: nil)
        #expect(answer.status == 200 && String(decoding: answer.body, as: UTF8.self) == "<p>page</p>")
        let policy = try #require(answer.headers["content-security-policy"])
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'"))
        #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"))
        #expect(
            answer.headers["x-content-type-options"] == "nosniff" && answer.headers["referrer-policy"] == "no-referrer")
        #expect(
            try await Asked.ask(port, "GET", "/", origin: nil, headers: ["Sec-Fetch-Site: cross-site"]).status == 200)
        await console.server.close()
    }

    @Test("a request to the console with another host name, or from another page, is refused")
    func foreign() async throws {
        let console = ServedConsole()
        let (port, token) = try await console.offer()
        let headers = try await Asked.open(port, token)
        func code(
            _ method: String = "POST", _ target: String = "/v1/operate", host: String? = nil, origin: String? = "same",
            more: [String] = []
        ) async throws -> String? {
            let answer = try await Asked.ask(
                port, method, target, host: host, origin: origin, headers: headers + more,
                body: method == "POST" ? "{}" : nil)
            return answer.status == 200 ? nil : "\(answer.status) \(answer.code ?? "")"
        }
        #expect(try await code() == nil)
        #expect(try await code("GET", origin: nil) == nil)
        #expect(try await code(host: "localhost:\(port)", origin: "http://localhost:\(port)") == nil)
        let foreign = "403 local-api.console-request-foreign"
        for host in [
            "evil.example", "evil.example:\(port)", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:\(port).evil.example",
        ] {
            #expect(try await code(host: host) == foreign, "\(host)")
            #expect(try await code("GET", "/", host: host, origin: nil) == foreign, "the page at \(host)")
            // What a rebound name gives: the page's own origin, at the wrong host.
            #expect(try await code(host: host, origin: "http://\(host)") == foreign, "\(host)")
        }
        for origin in ["http://evil.example", "null", "https://127.0.0.1:\(port)", "http://127.0.0.1:1", ""] {
            #expect(try await code(origin: origin) == foreign, "\(origin)")
            #expect(try await code("GET", origin: origin) == foreign, "\(origin)")
        }
        #expect(try await code(origin: nil) == foreign, "a change needs an origin")
        #expect(try await code(more: ["Host: 127.0.0.1:\(port)"]) != nil, "two hosts")
        for site in ["cross-site", "same-site", "none"] {
            #expect(try await code(more: ["Sec-Fetch-Site: \(site)"]) == foreign, "\(site)")
        }
        await console.server.close()
    }

    @Test("the console's token opens one session, from its own page, with a cookie for no script")
    func token() async throws {
        let console = ServedConsole()
        let (port, token) = try await console.offer()
        func begin(_ token: String, origin: String? = "same") async throws -> RawResponse {
            try await Asked.ask(port, "POST", "/session", origin: origin, body: #"{"token":"\#(token)"}"#)
        }
        let wrong = String(token.dropLast()) + (token.hasSuffix("0") ? "1" : "0")
        for bad in [wrong, "", token + "0", "x"] {
            let answer = try await begin(bad)
            #expect(answer.status == 403 && answer.code == "local-api.console-token-refused", "\(bad)")
        }
        #expect(try await begin(token, origin: "http://evil.example").status == 403)
        #expect(try await begin(token, origin: nil).status == 403)
        #expect(try await Asked.ask(port, "GET", "/session?token=\(token)").status == 403)
        let first = try await begin(token)
        #expect(first.status == 200)
        let cookie = try #require(first.headers["set-cookie"])
        #expect(cookie.hasPrefix("latchkey-\(port)-") && cookie.hasSuffix("; HttpOnly; SameSite=Strict; Path=/"))
        #expect(first.headers["cache-control"] == "no-store")
        #expect(first.json?["permissions"] == ["read", "publish", "operate"])
        #expect(try await begin(token).code == "local-api.console-token-refused")
        await console.server.close()
    }

    @Test("a browser led to the console at the end of a login gets the page, wherever, and nothing else")
    func landing() async throws {
        let console = ServedConsole()
        let port = try await console.offer().port
        for target in ["/done", "/", "/a/b%20c"] {
            let more = ["Sec-Fetch-Site: cross-site"]
            let answer = try await Asked.ask(
                port, "GET", "\(target)?code=c%2F&state=s", origin: nil, headers: more)
            #expect(answer.status == 200 && String(decoding: answer.body, as: UTF8.self) == "<p>page</p>", "\(target)")
            #expect(answer.headers["content-security-policy"]?.hasPrefix("default-src 'none'") == true)
            let post = try await Asked.ask(port, "POST", "\(target)?state=s", headers: more, body: "{}")
            #expect(post.status == 403, "\(target)")
        }
        for target in [
            "/done", "/done?code=c", "/v1/read?state=s", "/v1?state=s", "/session?state=s", "/v1/none?state=s",
        ] {
            #expect(try await Asked.ask(port, "GET", target, origin: nil).status == 403, "\(target)")
        }
        let foreign = try await Asked.ask(port, "GET", "/done?state=s", host: "evil.example:\(port)", origin: nil)
        #expect(foreign.code == "local-api.console-request-foreign")
        await console.server.close()
    }

    @Test("a request to the console without cookie and key of one session gets nothing but the page")
    func missing() async throws {
        let console = ServedConsole()
        let (port, token) = try await console.offer()
        let headers = try await Asked.open(port, token)
        let other = try await Asked.open(port, try await console.offer(to: 7).token)
        for some in [[], [headers[0]], [headers[1]], [headers[0], other[1]], [other[0], headers[1]]] {
            for target in ["/v1/read", "/v1/operate", "/v1/events", "/v1/none", "/session"] {
                let answer = try await Asked.ask(port, "GET", target, headers: some)
                #expect(
                    answer.status == 403 && answer.code == "local-api.console-session-missing", "\(some) \(target)")
            }
        }
        #expect(try await Asked.ask(port, "GET", "/v1/read", headers: headers).status == 200)
        await console.server.close()
    }

    @Test("a session of the console has the rights of the user who opened it, and no others")
    func rights() async throws {
        let console = ServedConsole()
        let (port, token) = try await console.offer(to: 7)
        let headers = try await Asked.open(port, token)
        #expect(try await Asked.ask(port, "GET", "/v1/read", headers: headers).json == ["uid": 7, "owner": false])
        for method in ["GET", "POST"] {
            let refused = try await Asked.ask(port, method, "/v1/operate", headers: headers, body: "{}")
            #expect(refused.status == 403 && refused.code == "local-api.access-denied")
        }
        #expect(try await Asked.ask(port, "GET", "/session", headers: headers).json?["permissions"] == ["read"])
        // A user without any right is told so, too.
        let none = try await Asked.open(port, try await console.offer(to: 8).token)
        #expect(try await Asked.ask(port, "GET", "/v1/read", headers: none).code == "local-api.access-denied")
        await console.server.close()
    }

    @Test("an ended session's streams end at once, and with the last session the console's listener")
    func ended() async throws {
        let console = ServedConsole()
        let (port, token) = try await console.offer()
        let headers = try await Asked.open(port, token)
        let reader = try await Asked.open(port, try await console.offer(to: 7).token)
        let stream = try RawClient(port: port)
        try await stream.write(Asked.request(port, "GET", "/v1/events", headers: headers))
        _ = try await stream.text(through: "\r\n\r\n")
        #expect(console.server.sessions(of: nil).map(\.isOpen) == [true, true])
        #expect(console.server.sessions(of: 7).map(\.uid) == [7])

        #expect(console.server.end(of: 0) == 1)
        #expect(try await stream.rest().contains("local-api.stopping"))
        #expect(
            try await Asked.ask(port, "GET", "/v1/read", headers: headers).code == "local-api.console-session-missing")
        #expect(try await Asked.ask(port, "GET", "/v1/read", headers: reader).status == 200)

        // By the page itself.
        _ = try? await Asked.ask(port, "DELETE", "/session", headers: reader)
        while (try? RawClient(port: port)) != nil, !Task.isCancelled { await Task.yield() }
        #expect(console.server.sessions(of: nil).isEmpty)
        let again = try await console.offer()
        #expect(try await Asked.ask(again.port, "GET", "/", origin: nil).status == 200)
        await console.server.close()
        #expect(throws: RawClient.Failure.self) { try RawClient(port: again.port) }
    }

    @Test("a session of the console that nobody uses ends by itself, and with it the listener")
    func idle() async throws {
        let console = ServedConsole(idle: .seconds(4))
        let (port, token) = try await console.offer()
        _ = try await Asked.open(port, token)
        // Nothing tells when a port closes; the suite's time limit ends the wait.
        while (try? RawClient(port: port)) != nil { try await Task.sleep(for: .milliseconds(20)) }
        #expect(console.server.sessions(of: nil).isEmpty)
        await console.server.close()
    }

    @Test("a reader of the console that closes its connection is noticed, and its session no longer in use")
    func closedReader() async throws {
        let console = ServedConsole()
        let (port, token) = try await console.offer()
        let headers = try await Asked.open(port, token)
        var readers: [RawClient] = []
        for _ in 1...10 {
            let reader = try RawClient(port: port)
            try await reader.write(Asked.request(port, "GET", "/v1/events", headers: headers))
            _ = try await reader.text(through: "\r\n\r\n")
            readers.append(reader)
        }
        #expect(try await Asked.ask(port, "GET", "/v1/read", headers: headers).status == 429)
        for reader in readers { reader.close() }
        while try await Asked.ask(port, "GET", "/v1/read", headers: headers).status == 429, !Task.isCancelled {}
        await console.server.close()
    }

    /// Half a request each, as another user; says how many were refused, and waits until it is ended.
    private static let flood = """
        import os, signal, socket, sys
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
        held = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(40)]
        for client in held: client.sendall(b"GET / HTTP/1.1\\r\\n")
        refused = 0
        for client in held[16:]:
            text = b""
            while piece := client.recv(4096): text += piece
            refused += b"local-api.too-many-connections" in text
        print(refused, "refused", flush=True)
        signal.pause()
        """

    @Test(
        "a user who holds connections to the console takes no other user's", .enabled(if: geteuid() == 0, "needs root"))
    func flood() async throws {
        let console = ServedConsole()
        let port = try await console.offer().port
        let stranger = try RunningProgram(
            URL(filePath: "/usr/bin/python3"), ["-c", Self.flood, "\(port)"])
        defer { stranger.signal(SIGKILL) }
        #expect(try await stranger.output.line(containing: "refused") == "24 refused")
        #expect(try await Asked.ask(port, "GET", "/", origin: nil).status == 200)
        await console.server.close()
    }

    @Test("connections to the console are bounded, and a port that is taken is named")
    func bounds() async throws {
        let console = ServedConsole()
        let port = try await console.offer().port
        var silent: [RawClient] = []
        for _ in 1...16 { silent.append(try RawClient(port: port)) }
        // The daemon has accepted them when the last one is answered.
        try await silent[15].write(Asked.request(port, "GET", "/", origin: nil))
        _ = try await silent[15].text(through: "</p>")
        let refused = try RawClient(port: port)
        #expect(try await refused.rest().contains("local-api.too-many-connections"))
        silent[0].close()
        while (try? await Asked.ask(port, "GET", "/", origin: nil).status) != 200, !Task.isCancelled {}

        let second = ConsoleServer(port: port, idle: .seconds(60))
        await #expect {
            try await second.offer(
                to: Peer(uid: 0, pid: 1, groups: []), by: AccessPolicy(owners: [0]), router: Router(), files: [])
        } throws: { error in
            (error as? LocalAPIError)?.message.contains("127.0.0.1:\(port)") == true
        }
        await console.server.close()
    }
}
