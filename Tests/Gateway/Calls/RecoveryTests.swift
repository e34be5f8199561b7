import Groundwork
import HTTPClient
import OAuth
import Testing

@testable import Gateway

@Suite("Recovery from a refusal")
struct RecoveryTests {
    private func verdict(_ status: Int, _ code: String?, body: String = "{}", isStatic: Bool = false) -> CallVerdict {
        var headers: HTTPHeaders = ["Content-Type": "application/json"]
        if let code { headers.set("x-ca-err", code) }
        return CallVerdict.of(
            HTTPResponse(status: status, headers: headers, body: Array(body.utf8)), isStaticClient: isStatic)
    }

    @Test(
        "a called API's refusal leads to recovery for …990, …201 and …206 (MAG checklist 24, 18)",
        arguments: [
            ("3007990", Recovery.dropAccessToken), ("990", .dropAccessToken), ("1002201", .reinitializeClient),
            ("3003206", .renewCertificate),
        ])
    func recovers(code: String, recovery: Recovery) {
        guard case .recover(let found, let refusal) = verdict(401, code) else {
            Issue.record("no recovery for \(code)")
            return
        }
        #expect(found == recovery)
        #expect(refusal.status == 401)
    }

    @Test(
        "a refusal about token, device or user is left to the caller, with its meaning (MAG checklist 25, 26)",
        arguments: [
            ("3007991", "gateway.token-scope-insufficient", 130_203), ("3007992", "gateway.token-missing", 130_201),
            ("3007993", "gateway.token-disabled", 130_202), ("1003107", "gateway.device-unknown", nil),
            ("1003108", "gateway.device-not-active", nil), ("3003202", "gateway.user-credentials-invalid", 130_002),
        ] as [(String, String, Int?)])
    func meaning(code: String, name: String, local: Int?) throws {
        #expect(verdict(401, code) == .answer)
        let answer = CallAnswer(
            HTTPResponse(status: 401, headers: ["x-ca-err": code, "X-Own": "1"], body: Array("its own words".utf8)))
        #expect(answer.response?.headers.first("X-Own") == "1" && answer.response?.body.count == 13)
        let error = try #require(answer.refusal)
        #expect(error.code == name)
        #expect(error.localCode == local)
    }

    @Test(
        "every other refusal of a called API is left to the caller",
        arguments: [
            (404, nil), (500, nil), (400, "1016155"), (404, "1016156"), (400, "8000142"), (200, "3007990"),
            (405, "3007990"),
            (401, "x990"), (401, "99999999999999999990"), (401, "-990"),
        ] as [(Int, String?)])
    func answers(status: Int, code: String?) { #expect(verdict(status, code) == .answer) }

    @Test("a refusal does not initialize static client credentials anew (MAG checklist 8)")
    func staticClient() {
        guard case .fail(let error) = verdict(401, "3003201", isStatic: true) else {
            Issue.record("no error")
            return
        }
        #expect(error.code == "gateway.client-credentials-invalid")
    }

    @Test("a refusal by 448 and 449 names what it demands, location first")
    func demands() {
        #expect(verdict(449, nil, body: "Missing Location data") == .fail(.locationDemanded(status: 449)))
        #expect(verdict(448, nil, body: "msisdn and location") == .fail(.locationDemanded(status: 448)))
        #expect(verdict(449, nil, body: "Missing MSISDN") == .fail(.telephoneNumberDemanded(status: 449)))
        #expect(verdict(449, nil) == .answer)
    }

    @Test(
        "a refusal of our own requests leads to recovery for …201 and …206, but not at renewal or removal",
        arguments: [
            (GatewayOperation.obtainToken, 3_003_201, Recovery.reinitializeClient),
            (.initializeClient, 1_002_201, .reinitializeClient), (.registerDevice, 1_000_201, .reinitializeClient),
            (.beginAuthorization, 3_000_201, .reinitializeClient), (.logOut, 3_006_201, nil),
            (.pollAuthorization, 3_000_201, nil),
            (.obtainToken, 3_003_206, .renewCertificate), (.registerDevice, 1_000_206, .renewCertificate),
            (.renewCertificate, 1_000_206, nil), (.removeDevice, 1_001_201, nil), (.obtainToken, 3_003_990, nil),
            (.obtainToken, 3_003_107, nil),
        ] as [(GatewayOperation, Int, Recovery?)])
    func ownRequests(operation: GatewayOperation, code: Int, recovery: Recovery?) {
        let refusal = Refusal(operation: operation, status: 401, code: code)
        #expect(Recovery.from(refusal, isStaticClient: false) == recovery)
    }

    @Test("a refusal keeps the gateway's words, on one line and bounded")
    func words() throws {
        let body = #"{"error":"invalid_request","error_description":"a\nb\#(String(repeating: "x", count: 1000))"}"#
        let response = HTTPResponse(status: 400, headers: ["X-CA-ERR": "1000105"], body: Array(body.utf8))
        let refusal = try #require(Refusal(response, to: .registerDevice))
        #expect(refusal.text?.count == RefusalWords.limit)
        #expect(refusal.text?.hasPrefix("a bx") == true)
        let error = GatewayError.refused(refusal)
        #expect(error.code == "gateway.device-already-registered")
        #expect(error.localCode == 120_001)
        #expect(error.message.contains("1000105") && error.message.contains("HTTP 400"))
        #expect(error.remedy?.contains("latchkey reset") == true)
    }
}

@Suite("Explanation of a refusal")
struct RefusalExplanationTests {
    @Test("the explanations of a refusal have an example for every meaning")
    func everyMeaning() { #expect(Set(Refusal.examples.map(\.meaning)) == Set(Refusal.Meaning.allCases)) }

    @Test(
        "the explanation of a refusal has the gateway's number and status, and the public clients' number",
        arguments: [
            (
                GatewayOperation.registerDevice, 1_000_105,
                GatewayNumbers(.local, 120_001, caError: 1_000_105, httpStatus: 400)
            ),
            (.registerDevice, 1_000_104, GatewayNumbers(.endpoint, 1_000_104, caError: 1_000_104, httpStatus: 400)),
            (.call, 3_003_993, GatewayNumbers(.local, 130_202, caError: 3_003_993, httpStatus: 400)),
            (.call, 1_003_107, GatewayNumbers(.targetAPI, 1_003_107, caError: 1_003_107, httpStatus: 400)),
        ])
    func numbers(operation: GatewayOperation, code: Int, numbers: GatewayNumbers) {
        let error = GatewayError.refused(Refusal(operation: operation, status: 400, code: code))
        #expect(error.explanation.gateway == numbers)
    }

    @Test("the explanation of an answer that did not come names why, by code and number")
    func noAnswer() {
        let said = GatewayError.noAnswer(.obtainToken, .timeout(url: "https://gw.example/token")).explanation
        #expect(said.cause == "http.timeout" && said.gateway == .local(100_405))
        let strange = GatewayError.unexpectedAnswer(.call, status: 502, reason: "not JSON").explanation
        #expect(strange.gateway == .local(100_407, httpStatus: 502))
    }
}
