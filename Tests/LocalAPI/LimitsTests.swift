import Foundation
import Groundwork
import TestSupport
import Testing

@testable import LocalAPI

@Suite("Limits of the local API", .timeLimit(.minutes(5)))
struct LimitsTests {
    private static func limits(_ change: (inout LocalServer.Limits) -> Void) -> LocalServer.Limits {
        var limits = LocalServer.Limits()
        change(&limits)
        return limits
    }

    @Test("the server's limits let a user have ten requests in progress, and refuse the eleventh")
    func requestsPerUser() async throws {
        let served = try Served()
        var streams: [RawClient] = []
        for _ in 1...9 {
            streams.append(try served.connect())
            try await streams.last?.write(Served.request("GET", "/v1/events"))
            _ = try await streams.last?.text(through: "\r\n\r\n")
        }
        let waiting = try served.connect()
        try await waiting.write(Served.request("GET", "/v1/wait"))
        await served.waits.pass()

        let eleventh = try await served.ask("GET", "/v1/peer")
        #expect(eleventh.status == 429 && eleventh.code == "local-api.too-many-requests")
        #expect(eleventh.headers["retry-after"] == "1")
        #expect(eleventh.json?["error"]?["remedy"]?.string?.contains("event streams count") == true)

        served.opened.open()
        #expect(try await waiting.answer().json == ["waited": true])
        #expect(try await served.ask("GET", "/v1/peer").status == 200, "one has ended")
        try await served.stop()
    }

    @Test("the server's limits end the handler of a client that vanished, and free its place then")
    func placeOfVanished() async throws {
        let served = try Served(limits: Self.limits { $0.requestsPerUser = 1 })
        let waiting = try served.connect()
        try await waiting.write(Served.request("GET", "/v1/wait"))
        await served.waits.pass()
        #expect(try await served.ask("GET", "/v1/peer").status == 429)
        waiting.close()
        while try await served.ask("GET", "/v1/peer").status == 429, !Task.isCancelled {}
        try await served.stop()
    }

    @Test(
        "the server's limits close a connection that sends a byte now and then, while others are served",
        arguments: [
            "", "GET /v1/pe", "GET /v1/peer HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
            "POST /v1/count HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n",
        ])
    func slowRequest(beginning: String) async throws {
        let served = try Served(limits: Self.limits { $0.request = .seconds(10) })
        // Something moves all the time, so that no limit of idleness is met.
        async let trickle = RawClient.trickling(to: served.path, after: beginning, every: .milliseconds(20))
        #expect(try await served.ask("GET", "/v1/peer").status == 200)
        let (slow, sent, duration) = try await trickle
        let answer = RawResponse(try await slow.rest())
        #expect(answer.status == 408 && answer.code == "local-api.request-too-slow")
        #expect(sent > 1 && duration > .milliseconds(9900))
        try await served.stop()
    }

    @Test("the server's limits close an idle connection without sending anything that looks like an answer")
    func idleConnection() async throws {
        let served = try Served(limits: Self.limits { $0.request = .seconds(10) })
        let client = try served.connect()
        try await client.write(Served.request("GET", "/v1/peer"))
        #expect(try await client.answer().status == 200)
        #expect(try await client.rest() == "")
        try await served.stop()
    }

    @Test("the server's limits do not count the time in which a stream has no events")
    func silentStream() async throws {
        let served = try Served(
            limits: Self.limits {
                $0.request = .seconds(10)
                $0.stall = .seconds(10)
            })
        let stream = try served.connect()
        try await stream.write(Served.request("GET", "/v1/events"))
        _ = try await stream.text(through: "\r\n\r\n")
        #expect(await !stream.isReadable(within: .seconds(12)))
        served.events.send(LocalEvent(name: "late", data: true))
        #expect(try await stream.text(through: "\n\n").contains("event: late"))
        try await served.stop()
    }

    @Test("the server's limits refuse a body of one byte too many, announced or not, and accept one that fits")
    func bodySize() async throws {
        let served = try Served(limits: Self.limits { $0.bodyBytes = 10_000 })
        let fits = String(repeating: "x", count: 10_000)
        #expect(try await served.ask("POST", "/v1/count", body: fits).json == ["bytes": 10_000])
        let announced = try await served.ask("POST", "/v1/count", body: fits + "x")
        #expect(announced.status == 413 && announced.code == "local-api.body-too-large")

        let chunked = try served.connect()
        try await chunked.write(
            Served.request("POST", "/v1/count", headers: ["Transfer-Encoding: chunked", "Connection: close"]))
        for _ in 1...11 { try await chunked.write("3e8\r\n\(String(repeating: "y", count: 1000))\r\n") }
        try await chunked.write("0\r\n\r\n")
        #expect(RawResponse(try await chunked.rest()).status == 413)
        try await served.stop()
    }

    @Test("the server's limits refuse a large body before it is sent, if the client asks first")
    func expectation() async throws {
        let served = try Served()
        let client = try served.connect()
        try await client.write(
            Served.request(
                "POST", "/v1/count", headers: ["Expect: 100-continue", "Content-Length: 99999999", "Connection: close"])
        )
        #expect(RawResponse(try await client.rest()).status == 413)
        let small = try served.connect()
        try await small.write(
            Served.request(
                "POST", "/v1/count", headers: ["Expect: 100-continue", "Content-Length: 2", "Connection: close"]))
        #expect(try await small.text(through: "\r\n\r\n").hasPrefix("HTTP/1.1 100"))
        try await small.write("{}")
        #expect(RawResponse(try await small.rest()).json == ["bytes": 2])
        try await served.stop()
    }

    @Test("the server's limits end a refused body that does not end")
    func endlessBody() async throws {
        let served = try Served(limits: Self.limits { $0.bodyBytes = 1000 })
        let client = try served.connect()
        try await client.write(Served.request("POST", "/v1/count", headers: ["Transfer-Encoding: chunked"]))
        let chunk = "3e8\r\n\(String(repeating: "z", count: 1000))\r\n"
        await #expect(throws: RawClient.Failure.self) { for _ in 1...100_000 { try await client.write(chunk) } }
        #expect(try await served.ask("GET", "/v1/peer").status == 200)
        try await served.stop()
    }

    @Test(
        "the server's limits refuse a head that is too large, with JSON unless it is enormous",
        arguments: [17_000, 200_000, 5_000_000])
    func headSize(bytes: Int) async throws {
        let served = try Served()
        let client = try served.connect()
        try? await client.write(
            Served.request(
                "GET", "/v1/peer", headers: ["X-Large: \(String(repeating: "a", count: bytes))", "Connection: close"]))
        let answer = RawResponse(try await client.rest())
        #expect(answer.status == 431)
        if bytes < 20_000 { #expect(answer.code == "local-api.head-too-large") }
        #expect(try await served.ask("GET", "/v1/peer").status == 200)
        try await served.stop()
    }

    @Test("the server's limits refuse a path that is too long")
    func targetSize() async throws {
        let served = try Served()
        for bytes in [17_000, 200_000] {
            let client = try served.connect()
            try? await client.write(Served.request("GET", "/v1/\(String(repeating: "a", count: bytes))"))
            #expect([414, 431].contains(RawResponse(try await client.text(through: "\r\n\r\n")).status))
        }
        try await served.stop()
    }

    @Test("the server's limits refuse input that is not HTTP, and keep serving")
    func noHTTP() async throws {
        let served = try Served()
        let garbage = [
            "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{FC}\u{3}\u{3}\r\n\r\n", "GET\r\n\r\n", "GET /v1/peer\r\n\r\n",
            "\r\n\r\n\r\n\r\n",
            "GET /v1/peer HTTP/1.1\r\n\r\n", "GET /v1/peer HTTP/9.9\r\nHost: localhost\r\n\r\n",
            "GET /v1/peer HTTP/1.1\r\nHost localhost\r\n\r\n",
            "GET /v1/peer\u{0}/../x HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "POST /v1/count HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
            "POST /v1/count HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "POST /v1/count HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ]
        for text in garbage {
            let client = try served.connect()
            try await client.write(text)
            client.closeWriting()
            let answer = try await client.rest()
            #expect(!answer.hasPrefix("HTTP/1.1 2") || text.contains("\u{0}"), "\(text.debugDescription): \(answer)")
        }
        #expect(try await served.ask("GET", "/v1/peer").status == 200)
        try await served.stop()
    }

    @Test("the server's limits limit the connections of a user, and tell the next one")
    func connectionsPerUser() async throws {
        let served = try Served(limits: Self.limits { $0.connectionsPerUser = 3 })
        var open: [RawClient] = []
        for _ in 1...3 {
            open.append(try served.connect())
            try await open.last?.write(Served.request("GET", "/v1/peer"))
            #expect(try await open.last?.answer().status == 200)
        }
        let fourth = try served.connect()
        let answer = RawResponse(try await fourth.rest())
        #expect(answer.status == 429 && answer.code == "local-api.too-many-connections")
        #expect(answer.headers["retry-after"] == "1")

        open.removeLast()
        while try RawResponse(await served.connect().restOfAnswer()).status == 429, !Task.isCancelled {}
        try await served.stop()
    }

    @Test(
        "the server's limits do not keep a user from being served while another holds all of its connections",
        .enabled(if: getuid() == 0))
    func greedyUser() async throws {
        let served = try Served(
            policy: AccessPolicy(
                owners: [], grants: [.read: .init(users: [61_001])], socketGroup: 61_000))
        let greedy = try (1...300).map { _ in try served.connect() }
        #expect(
            try await OtherUser(uid: 61_001, gid: 61_000, groups: "").status(of: "/v1/peer", at: served.path) == "200")
        #expect(greedy.count == 300)
        try await served.stop()
    }

    @Test(
        "the server's limits withstand 300 connections at once: each is served or told why not")
    func manyConnections() async throws {
        let served = try Served(limits: Self.limits { $0.request = .seconds(100) })
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 1...300 {
                group.addTask { try RawResponse(await served.connect().restOfAnswer()).status }
            }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses[200, default: 0] >= 10, "\(statuses)")
        #expect(Set(statuses.keys).isSubset(of: [200, 429]), "\(statuses)")
        #expect(statuses.values.reduce(0, +) == 300)
        #expect(try await served.ask("GET", "/v1/peer").status == 200)
        try await served.stop()
    }

    @Test("the server's limits serve 300 connections of one user at once if configured")
    func manyAllowedConnections() async throws {
        let served = try Served(
            limits: Self.limits {
                $0.connections = 310
                $0.connectionsPerUser = 310
                $0.request = .seconds(100)
            })
        let clients = try (1...300).map { _ in try served.connect() }
        for client in clients {
            try await client.write(Served.request("GET", "/v1/peer"))
            #expect(try await client.answer().status == 200)
        }
        try await served.stop()
    }
}

extension RawClient {
    /// Asks for the peer, and reads to the end. The server may have refused the connection before.
    fileprivate func restOfAnswer() async throws -> String {
        try? await write(Served.request("GET", "/v1/peer", headers: ["Connection: close"]))
        return try await rest()
    }
}
