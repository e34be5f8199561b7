import Groundwork
import Testing

@testable import LocalAPI

@Suite("Request target")
struct RequestTargetTests {
    @Test(
        "a request target is decoded once, piece by piece",
        arguments: [
            ("/", [], [:]),
            ("/v1/status", ["v1", "status"], [:]),
            ("/v1/things/a%20b%C3%A9", ["v1", "things", "a bé"], [:]),
            ("/v1/things/%252e%252e", ["v1", "things", "%2e%2e"], [:]),
            ("/v1/things/...", ["v1", "things", "..."], [:]),
            ("/v1/m?filter=a%2F%2B%2F%23&qos=1", ["v1", "m"], ["filter": "a/+/#", "qos": "1"]),
            ("/v1/m?a=1+1&b=c=d&e=", ["v1", "m"], ["a": "1 1", "b": "c=d", "e": ""]),
            ("/v1/m?", ["v1", "m"], [:]),
        ] as [(String, [String], [String: String])])
    func decoded(text: String, segments: [String], query: [String: String]) throws {
        let target = try RequestTarget(Array(text.utf8))
        #expect(target.segments == segments)
        #expect(target.query == query)
    }

    /// Each is a way to make a path mean something else to one reader than to another.
    static let tricks = [
        "", "v1/status", "*", "http://localhost/v1/status",
        "//v1/status", "/v1//status", "/v1/status/", "/v1/./status", "/v1/../status", "/..", "/.", "/v1/..",
        "/v1/%2e%2e/status", "/v1/%2E./status", "/v1/.%2e", "/v1/%2e/status", "/v1%2Fstatus", "/v1%2fstatus",
        "/%2e%2e%2fetc",
        "/v1\\status", "/v1%5Cstatus", "/v1%5c..%5cstatus",
        "/v1/status%00", "/v1/%00/status", "/v1/status%0d%0aX:1", "/v1/%7F", "/v1/%01",
        "/v1/%", "/v1/%2", "/v1/%zz", "/v1/%+1", "/v1/% 1", "/v1/%%32e",
        "/v1/%C0%AF", "/v1/%C0%AE%C0%AE", "/v1/%FF", "/v1/%ED%A0%80", "/v1/%C3",
        "/v1/status#here", "/v1/sta tus", "/v1/<status>", "/v1/st\"atus", "/v1/{name}", "/v1/caf\u{E9}", "/v1/a|b",
        "/v1/m?a", "/v1/m?=1", "/v1/m?a=1&&b=2", "/v1/m?a=1&", "/v1/m?&a=1", "/v1/m?a=1&a=2", "/v1/m?a=1&%61=2",
        "/v1/m?a=%00", "/v1/m?a=%", "/v1/m?a=%0A", "/v1/m?a=%FF", "/v1/m?a=[1]",
    ]

    @Test("a request target is refused if two parsers could read it differently", arguments: tricks)
    func tricked(text: String) {
        let error = #expect(throws: LocalAPIError.self) { try RequestTarget(Array(text.utf8)) }
        #expect(error?.code == "local-api.bad-target")
    }

    @Test("a request target is refused over the socket with a JSON error of status 400", .timeLimit(.minutes(5)))
    func refusedOverSocket() async throws {
        let served = try Served()
        for trick in Self.tricks where !trick.contains(" ") && !trick.isEmpty {
            let answer = try await served.ask("GET", trick)
            #expect(answer.status == 400 && answer.code == "local-api.bad-target", "\(trick): \(answer)")
        }
        #expect(try await served.ask("GET", "/v1/peer").status == 200)
        try await served.stop()
    }
}
