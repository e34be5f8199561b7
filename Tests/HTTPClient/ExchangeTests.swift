import Foundation
import Groundwork
import HTTPClient
import Testing

@Suite("An exchange", .timeLimit(.minutes(5)))
struct ExchangeTests {
    private let client = HTTPClient()

    @Test("an exchange carries method, query, headers and body, and adds nothing of its own")
    func request() async throws {
        let server = try await TestServer()
        let request = HTTPRequest.plain(
            "PUT", server.http("/echo?a=1&b=%20"),
            headers: ["X-One": "1", "mag-identifier": "id", "X-One": "2", "X-Blank": ""], body: Array("héllo".utf8))
        let echo = try await client.send(request).echo()
        #expect(echo.method == "PUT")
        #expect(echo.path == "/echo?a=1&b=%20")
        #expect(echo.body == "héllo")
        #expect(
            echo.headers.map { $0[0] } == ["Host", "X-One", "mag-identifier", "X-One", "X-Blank", "Content-Length"])
        #expect(echo.values("X-One") == ["1", "2"])
        #expect(echo.values("X-Blank") == [""])
    }

    @Test(
        "an exchange without content states its length if the method requires it",
        arguments: [("POST", ["0"]), ("DELETE", [])])
    func noContent(method: String, length: [String]) async throws {
        let server = try await TestServer()
        let echo = try await client.send(.plain(method, server.http("/echo"))).echo()
        #expect(echo.method == method)
        #expect(echo.values("Content-Length") == length)
    }

    @Test("an exchange keeps repeated, folded and empty fields of the answer, and skips interim answers")
    func response() async throws {
        let server = try await TestServer()
        let response = try await client.send(.plain("GET", server.http("/repeated")))
        #expect(response.isSuccess)
        #expect(response.headers.all("X-Part") == ["one", "two folded"])
        #expect(response.headers.first("x-empty") == "")
        #expect(response.headers.first("Link") == nil)
    }

    @Test("an exchange with HEAD has the length of the body but not the body")
    func head() async throws {
        let server = try await TestServer()
        let response = try await client.send(.plain("HEAD", server.http("/large?bytes=99")))
        #expect(response.headers.first("Content-Length") == "99")
        #expect(response.body.isEmpty)
    }

    @Test("an exchange with a redirect or an error status is returned unchanged", arguments: [204, 302, 404, 449, 503])
    func status(code: Int) async throws {
        let server = try await TestServer()
        let response = try await client.send(.plain("GET", server.http("/status?code=\(code)")))
        #expect(response.status == code)
        #expect(response.isSuccess == (code == 204))
    }

    @Test("an exchange reuses the last connection, until connections are forgotten")
    func reuse() async throws {
        let server = try await TestServer()
        var numbers: [Int] = []
        for _ in 0..<3 { numbers.append(try await client.send(.plain("GET", server.http("/echo"))).echo().connection) }
        client.forgetConnections()
        numbers.append(try await client.send(.plain("GET", server.http("/echo"))).echo().connection)
        #expect(numbers == [1, 1, 1, 2])
    }

    @Test("an exchange runs in parallel with many others")
    func concurrent() async throws {
        let server = try await TestServer()
        let bodies = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<40 {
                group.addTask {
                    try await client.send(.plain("POST", server.http("/echo"), body: Array("\(number)".utf8))).echo()
                        .body
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(bodies.compactMap { Int($0) }) == Set(0..<40))
    }

    @Test("an exchange may be exactly as large as allowed; one byte more, or no end, is refused while receiving")
    func bodyLimit() async throws {
        let server = try await TestServer()
        var request = HTTPRequest.plain("GET", server.http("/large?bytes=1000&token=secret"))
        request.responseLimit = 1000
        #expect(try await client.send(request).body.count == 1000)
        request.responseLimit = 999
        await #expect(throws: HTTPError.responseTooLarge(url: server.http("/large"), limit: 999)) {
            try await client.send(request)
        }
        request = .plain("GET", server.http("/endless"))
        await #expect(throws: HTTPError.responseTooLarge(url: server.http("/endless"), limit: 10_485_760)) {
            try await client.send(request)
        }
        #expect(try await server.said("closed after").isEmpty == false)
    }

    @Test(
        "an exchange with a flood of header fields or bytes is refused",
        arguments: [
            "count=201", "count=100&bytes=700", "count=1&bytes=200000",
        ])
    func headerFlood(query: String) async throws {
        let server = try await TestServer()
        await #expect(throws: HTTPError.responseHeadTooLarge(url: server.http("/fields"))) {
            try await client.send(.plain("GET", server.http("/fields?\(query)")))
        }
    }

    @Test("an exchange that breaks off or is not HTTP is refused")
    func broken() async throws {
        let server = try await TestServer()
        let cut = await #expect(throws: HTTPError.self) {
            try await client.send(.plain("GET", server.http("/cut?token=secret")))
        }
        #expect(cut?.code == "http.connection-lost")
        await #expect(throws: HTTPError.malformedResponse(url: server.http("/garbage"))) {
            try await client.send(.plain("GET", server.http("/garbage")))
        }
    }

    @Test("an exchange with a silent server ends at its time limit, with an error that does not show the query")
    func timeout() async throws {
        let server = try await TestServer(["--mute"])
        var request = HTTPRequest.plain("GET", server.http("/path?token=secret"))
        request.timeout = .seconds(3)
        let error = await #expect(throws: HTTPError.timeout(url: server.http("/path"))) {
            try await client.send(request)
        }
        #expect(error?.message.contains("secret") == false)
        #expect(try await server.said("left") == "left")
    }

    @Test("an exchange without a listening server reports where and why")
    func nobody() async throws {
        let place = BoundPort()
        let port = place.number
        await #expect(throws: HTTPError.cannotConnect(host: "127.0.0.1", port: port, reason: "Connection refused")) {
            try await client.send(.plain("GET", "http://127.0.0.1:\(port)/"))
        }
        await #expect(
            throws: HTTPError.cannotConnectToSocket(path: "/nowhere/socket", reason: "No such file or directory")
        ) {
            var request = HTTPRequest("GET", "http://localhost/")
            request.unixSocket = "/nowhere/socket"
            return try await client.send(request)
        }
    }

    @Test("an exchange that is canceled ends and disconnects at once")
    func cancellation() async throws {
        let server = try await TestServer()
        let request = Task { try await client.send(.plain("GET", server.http("/silence"))) }
        #expect(try await server.said("asked") == "asked")
        request.cancel()
        await #expect(throws: HTTPError.cancelled) { try await request.value }
        #expect(try await server.said("left") == "left")
    }

    @Test("an exchange in a task already canceled never starts")
    func cancelledBefore() async throws {
        let server = try await TestServer()
        let request = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.send(.plain("GET", server.http("/echo")))
        }
        await #expect(throws: HTTPError.cancelled) { try await request.value }
        #expect(try await client.send(.plain("GET", server.http("/echo"))).echo().connection == 1)
    }

    @Test(
        "an exchange is refused when its method could begin another line",
        arguments: ["GET /x HTTP/1.1\r\nX:", "GET\n", ""])
    func injectionByMethod(method: String) async throws {
        let error = await #expect(throws: HTTPError.self) { try await client.send(.plain(method, "http://127.0.0.1/")) }
        #expect(error?.code == "http.malformed-request")
    }

    @Test(
        "an exchange is refused when a header could begin another line, or must not be set by the caller",
        arguments: [
            ["X\r\nY": "secret"], ["": "secret"], ["X:Y": "secret"], ["X": "secret\r\nY: 1"], ["X": "secret\n"],
            ["X": "secret\u{0}"], ["Content-Length": "7"], ["transfer-encoding": "chunked"],
        ] as [HTTPHeaders])
    func injection(headers: HTTPHeaders) async throws {
        let request = HTTPRequest.plain("GET", "http://127.0.0.1/", headers: headers)
        let error = await #expect(throws: HTTPError.self) { try await client.send(request) }
        #expect(error?.code == "http.malformed-request")
        #expect(error?.message.contains("secret") == false)
    }

    @Test("an exchange over http needs a Unix socket or permission, over https a trust")
    func protection() async throws {
        await #expect(throws: HTTPError.plainHTTPRefused(host: "gw.test")) {
            try await client.send(HTTPRequest("GET", "http://gw.test/"))
        }
        await #expect(throws: HTTPError.noTrust(host: "gw.test")) {
            try await client.send(HTTPRequest("GET", "https://gw.test/"))
        }
    }

    @Test("an exchange with this machine ignores proxies in the environment")
    func proxy() async throws {
        // In a process of its own: other tests read the environment.
        await #expect(processExitsWith: .success) {
            try #require(setenv("http_proxy", "http://127.0.0.1:1", 1) == 0)
            let server = try await TestServer()
            let answer = try await HTTPClient().send(.plain("GET", server.http("/status?code=200")))
            try #require(answer.status == 200)
        }
        #expect(getenv("http_proxy").map { String(cString: $0) } != "http://127.0.0.1:1")
    }
}

/// A port of loopback that is taken and on which nobody listens.
private final class BoundPort {
    private let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let number: Int

    init() {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = bind(descriptor, address, length)
                _ = getsockname(descriptor, address, &length)
            }
        }
        number = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }
}
