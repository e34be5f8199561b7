import Groundwork
import Testing

@testable import LocalAPI

@Suite("JSON body", .timeLimit(.minutes(5)))
struct BodyTests {
    private static let sample =
        #"{"topic":"door/state","retain":true,"qos":1,"list":[1,-2.5e3,null],"more":{"a":"\u00e9"}}"#

    @Test("a JSON body arrives as it was sent")
    func whole() async throws {
        let served = try Served()
        let answer = try await served.ask("POST", "/v1/echo", body: Self.sample)
        #expect(answer.status == 202)
        #expect(answer.json == (try JSON(parsing: Array(Self.sample.utf8))))
        try await served.stop()
    }

    @Test(
        "a JSON body that is truncated or corrupted gets JSON of status 400, and the connection stays open")
    func spoilt() async throws {
        let served = try Served()
        let client = try served.connect()
        let bytes = Array(Self.sample.utf8)
        for place in bytes.indices {
            var spoilt = bytes
            // A control character is right nowhere in a JSON text, inside a string or out.
            spoilt[place] = 0x01
            for body in [Array(bytes[..<place]), spoilt] where !body.isEmpty {
                try await client.write(Served.request("POST", "/v1/echo", headers: ["Content-Length: \(body.count)"]))
                try await client.write(body)
                let answer = try await client.answer()
                #expect(
                    answer.status == 400 && answer.code == "local-api.bad-body",
                    "\(place): \(String(decoding: body, as: UTF8.self))")
            }
        }
        try await served.stop()
    }

    @Test(
        "a JSON body is refused if it is JSON but not an object, or not JSON at all",
        arguments: [
            "null", "true", "1", #""text""#, "[]", #"[{"topic":"a"}]"#, "topic=a", "{}{}", "{'topic':'a'}", "NaN",
            "\u{FEFF}x", #"{"topic":"\ud800"}"#,
        ])
    func noObject(body: String) async throws {
        let served = try Served()
        let answer = try await served.ask("POST", "/v1/echo", body: body)
        #expect(answer.status == 400 && answer.code == "local-api.bad-body")
        try await served.stop()
    }

    @Test("a JSON body is refused if it is nested too deeply", arguments: ["[", #"{"a":"#])
    func nested(opening: String) async throws {
        let served = try Served()
        let answer = try await served.ask("POST", "/v1/echo", body: String(repeating: opening, count: 100_000))
        #expect(answer.status == 400 && answer.code == "local-api.bad-body")
        try await served.stop()
    }

    @Test("a JSON body is refused if it is not UTF-8")
    func notUTF8() async throws {
        let served = try Served()
        let client = try served.connect()
        try await client.write(Served.request("POST", "/v1/echo", headers: ["Content-Length: 13"]))
        try await client.write(Array(#"{"topic":""#.utf8) + [0xFF] + Array(#""}"#.utf8))
        #expect(try await client.answer().status == 400)
        try await served.stop()
    }
}
