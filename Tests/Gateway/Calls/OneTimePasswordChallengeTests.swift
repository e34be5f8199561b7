import Groundwork
import HTTPClient
import Testing

@testable import Gateway

@Suite("Demand for a one-time password")
struct OneTimePasswordChallengeTests {
    private func challenge(_ status: Int, _ headers: HTTPHeaders) -> OneTimePasswordChallenge? {
        OneTimePasswordChallenge(HTTPResponse(status: status, headers: headers))
    }

    @Test(
        "a demand for a one-time password is known by the gateway's number and by X-OTP (MAG 6.6)",
        arguments: [
            (401, "8000140", nil, .required), (401, "8000142", nil, .wrong), (400, "8000143", nil, .expired),
            (403, "8000144", nil, .limitExceeded), (403, "8000145", nil, .barred), (401, nil, "required", .required),
            (400, nil, "INVALID", .wrong), (403, nil, "expired", .expired), (403, nil, "suspended", .barred),
            (401, "8000142", "required", .wrong), (401, "3007992", "required", .required),
        ] as [(Int, String?, String?, OneTimePasswordChallenge.Kind)])
    func kinds(status: Int, number: String?, word: String?, kind: OneTimePasswordChallenge.Kind) {
        var headers: HTTPHeaders = [:]
        if let number { headers.add("x-ca-err", number) }
        if let word { headers.add("X-OTP", word) }
        #expect(challenge(status, headers)?.kind == kind)
    }

    @Test(
        "a success, a 405, another number or another word is no demand for a one-time password",
        arguments: [
            (200, "8000140", nil), (405, "8000140", nil), (401, "7654140", nil), (401, "140", nil),
            (404, nil, "required"), (401, nil, "generated"), (401, nil, nil), (500, "8000500", nil),
        ] as [(Int, String?, String?)])
    func nothing(status: Int, number: String?, word: String?) {
        var headers: HTTPHeaders = [:]
        if let number { headers.add("x-ca-err", number) }
        if let word { headers.add("X-OTP", word) }
        #expect(challenge(status, headers) == nil)
    }

    @Test("a one-time password's channels, attempts and time are read in any spelling (MAG checklist 67)")
    func details() throws {
        for spelling in [{ $0 }, { $0.lowercased() }] as [(String) -> String] {
            let found = try #require(
                challenge(
                    401,
                    HTTPHeaders([
                        .init(spelling("X-CA-ERR"), "8000142"), .init(spelling("X-OTP-CHANNEL"), "EMAIL, SMS,EMAIL"),
                        .init(spelling("X-OTP-RETRY"), "2"), .init(spelling("X-OTP-RETRY-INTERVAL"), "100"),
                    ])))
            #expect(found.channels == ["EMAIL", "SMS"] && found.attemptsLeft == 2 && found.retryAfter == 100)
        }
    }

    @Test("a demand for a one-time password is bounded, and drops what is no name or number")
    func bounds() throws {
        let many = (1...50).map { "C\($0)" }.joined(separator: ",")
        let found = try #require(
            challenge(
                403,
                [
                    "x-ca-err": "8000145", "X-OTP-CHANNEL": many, "X-OTP-RETRY": "-1",
                    "X-OTP-RETRY-INTERVAL": "999999999",
                ]))
        #expect(found.channels.count == OneTimePasswordChallenge.channelLimit && found.attemptsLeft == nil)
        #expect(found.retryAfter == OneTimePasswordChallenge.longestWait)
        let odd = try #require(
            challenge(
                401,
                ["x-ca-err": "8000140", "X-OTP-CHANNEL": "by mail,\u{7}, ,\(String(repeating: "x", count: 33)),SMS"]))
        #expect(odd.channels == ["SMS"])
    }

    @Test("a demand for a one-time password that nobody is asked for is reported by number (160101, 160102)")
    func notAsked() {
        func number(_ channels: String) -> Int? {
            let response = HTTPResponse(
                status: 401, headers: ["x-ca-err": "8000140", "X-OTP-CHANNEL": channels])
            return CallAnswer(response).passwordDemand?.explanation.gateway?.number
        }
        #expect(number("EMAIL,SMS") == 160_101 && number("EMAIL") == 160_102)
        #expect(CallAnswer(HTTPResponse(status: 401, headers: ["x-ca-err": "3007992"])).passwordDemand == nil)
    }

    @Test(
        "answers about one-time passwords have the public clients' numbers where they have one",
        arguments: [(8_000_143, 160_105), (8_000_144, 160_106), (8_000_145, 160_107)])
    func numbers(code: Int, local: Int) {
        #expect(Refusal(operation: .call, status: 403, code: code).localCode == local)
    }
}
