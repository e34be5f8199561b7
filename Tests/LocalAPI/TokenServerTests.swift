import Groundwork
import TestSupport
import Testing

@testable import LocalAPI

@Suite("The listener with a token", .timeLimit(.minutes(5)))
struct TokenServerTests {
    private static let token = "0123456789abcdef0123456789abcdef"

    /// A listener with routes of several rights, asked for by whoever has the token.
    private final class Served: Sendable {
        let server: TokenServer
        let events = Broadcast<LocalEvent>()
        let running: Task<Void, Never>
        var port: UInt16 { server.port }

        init(limits change: (inout LocalServer.Limits) -> Void = { _ in }) throws {
            var router = Router()
            for (path, right) in [("/metrics", Permission.read), ("/operate", .operate)] {
                for method in ["GET", "POST"] {
                    router.on(method, path, needs: right, .init("Who asks", answer: .openObject(""))) { request in
                        .json([
                            "uid": .integer(Int64(request.peer.uid)), "owner": .bool(request.isOwner),
                            "operates": .bool(request.mayOperate),
                            "inUnit": .bool(request.peer.mayBe(in: "a.service")),
                        ])
                    }
                }
            }
            let events = events
            router.on("GET", "/events", needs: .read, .init("Events", events: ["n": .integer("")])) { _ in
                .events(events.subscribe())
            }
            var limits = LocalServer.Limits()
            (limits.connections, limits.connectionsPerUser, limits.connectionsOfOthers) = (2, 2, 2)
            limits.bodyBytes = 0
            change(&limits)
            let server = try TokenServer(
                on: ListenAddress(loopbackPort: 0), names: ["Board.Example"], token: token,
                program: .init(uid: 7, groups: [8]),
                policy: AccessPolicy(owners: [], grants: [.read: .init(users: [7])]),
                router: router, limits: limits)
            self.server = server
            running = Task { await server.run() }
        }

        deinit { running.cancel() }

        func ask(
            _ method: String = "GET", _ target: String = "/metrics", host: String? = nil,
            authorization: [String] = ["Bearer \(token)"], more: [String] = []
        ) async throws -> RawResponse {
            let client = try RawClient(port: port)
            let head =
                ["\(method) \(target) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")"]
                + authorization.map { "Authorization: \($0)" } + more + ["Connection: close", "", ""]
            try await client.write(head.joined(separator: "\r\n"))
            return RawResponse(try await client.rest())
        }
    }

    @Test("whoever has the listener's token has the rights of its user, never those of an owner or a unit")
    func rights() async throws {
        let served = try Served()
        let answer = try await served.ask()
        #expect(answer.status == 200)
        #expect(answer.json == ["uid": 7, "owner": false, "operates": false, "inUnit": true])
        #expect(try await served.ask("HEAD").status == 200)
        #expect(try await served.ask("HEAD").body.isEmpty)
        #expect(try await served.ask("POST", "/operate").code == "local-api.access-denied")
        #expect(try await served.ask("DELETE").status == 405)
        #expect(try await served.ask("POST", more: ["Content-Length: 1"]).status == 413)
        #expect(try await served.ask("GET", "/other").status == 404)
    }

    @Test("a request without the listener's token is not answered, not even whether there is such a route")
    func token() async throws {
        let served = try Served()
        let token = Self.token
        for wrong in [
            [], ["Bearer"], ["Bearer "], ["Bearer \(token)0"], ["Bearer \(token.dropLast())"],
            ["Bearer \(token.dropLast())0"],
            ["Basic \(token)"], [token], ["Bearer \(token)", "Bearer \(token)"], ["Bearer \(token.uppercased())"],
            ["Bearer \(token) x"],
        ] {
            for target in ["/metrics", "/other", "/metrics?access_token=\(token)"] {
                let answer = try await served.ask("GET", target, authorization: wrong)
                #expect(answer.status == 401 && answer.code == "local-api.token-refused", "\(wrong)")
                #expect(answer.headers["www-authenticate"] == "Bearer")
            }
        }
        #expect(try await served.ask(authorization: ["bEARER  \(token)"]).status == 200)
    }

    @Test("a request with the token that names another host is refused, as after DNS rebinding")
    func hosts() async throws {
        let served = try Served()
        for host in ["localhost:\(served.port)", "LOCALHOST:\(served.port)", "board.example:\(served.port)"] {
            #expect(try await served.ask(host: host).status == 200, "\(host)")
        }
        for host in ["evil.example:\(served.port)", "127.0.0.1", "127.0.0.1:1", "board.example", ""] {
            #expect(try await served.ask(host: host).code == "local-api.host-foreign", "\(host)")
        }
        #expect(try await served.ask(more: ["Host: 127.0.0.1:\(served.port)"]).status != 200)
    }

    @Test("slow clients of the token listener lose their connections, and the next one gets its answer")
    func slow() async throws {
        let served = try Served { $0.request = .seconds(8) }
        let silent = try RawClient(port: served.port)
        let slow = try RawClient(port: served.port)
        try await slow.write("GET /metrics HTTP/1.1\r\nHost: 127")
        // Both places are taken: this one waits until a slow one has lost its own.
        #expect(try await served.ask().status == 200)
        #expect(RawResponse(try await slow.rest()).status == 408)
        #expect(RawResponse(try await silent.rest()).status == 408)
    }

    @Test("streams of the token listener end when their reader is gone, and when the listener ends")
    func streams() async throws {
        let served = try Served()
        let stream = try RawClient(port: served.port)
        let head =
            "GET /events HTTP/1.1\r\nHost: 127.0.0.1:\(served.port)\r\nAuthorization: Bearer \(Self.token)\r\n\r\n"
        try await stream.write(head)
        _ = try await stream.text(through: "\r\n\r\n")
        served.running.cancel()
        #expect(try await stream.rest().contains("local-api.stopping"))
        await served.running.value
    }

    @Test(
        "an address of the listener is numeric with a port, and loopback and wildcards are recognized",
        arguments: [
            ("127.0.0.1:9464", true, false), ("127.9.9.9:1", true, false), ("[::1]:9464", true, false),
            ("192.0.2.7:80", false, false), ("[2001:DB8::1]:65535", false, false), ("0.0.0.0:1", false, true),
            ("[::]:1", false, true), ("[::ffff:127.0.0.1]:1", false, false),
        ])
    func address(text: String, isLoopback: Bool, isWildcard: Bool) throws {
        let address = try #require(ListenAddress(text))
        #expect(address.description == text.lowercased())
        #expect((address.isLoopback, address.isWildcard) == (isLoopback, isWildcard))
    }

    @Test(
        "an address of the listener that is not numeric, or has no port, is refused",
        arguments: [
            "", ":9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:-1", "127.1:80",
            "localhost:9464", "::1:9464", "[::1]", "[127.0.0.1]:1", "127.0.0.1:9464 ", "127.0.0.1\0:9464", "[::1:1",
        ])
    func noAddress(text: String) { #expect(ListenAddress(text) == nil) }
}
