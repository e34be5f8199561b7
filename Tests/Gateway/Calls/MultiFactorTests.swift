import Groundwork
import HTTPClient
import TestSupport
import Testing

@testable import Gateway

/// Answers `401` with `X-Riddle` by `X-Answer`: any factor beside one-time passwords.
private struct Riddles: MultiFactorHandler {
    let answers: HTTPHeaders?

    func complete(
        _ call: ChallengedCall, after answer: HTTPResponse, repeating repetition: @escaping Repetition
    ) async throws -> CallAnswer? {
        guard answer.headers.first("X-Riddle") != nil else { return nil }
        guard let answers else { throw MultiFactorError.cancelled }
        return try await repetition(answers)
    }
}

/// Answers the number 1234567 in `x-ca-err` by `X-Second`.
private struct Second: MultiFactorHandler {
    let isAdmitted: Bool

    func admit(_ call: ChallengedCall) throws {
        if !isAdmitted { throw MultiFactorError.cancelled }
    }

    func complete(
        _ call: ChallengedCall, after answer: HTTPResponse, repeating repetition: @escaping Repetition
    ) async throws -> CallAnswer? {
        guard answer.headers.first("x-ca-err") == "1234567" else { return nil }
        return try await repetition(["X-Second": "2"])
    }
}

/// An API that demands two factors, one after the other.
@Suite("Multi-factor handlers")
struct MultiFactorTests {
    private let sent = Log<[String]>()

    private func call(_ handlers: [any MultiFactorHandler], demanding demand: HTTPHeaders = ["X-Riddle": "?"])
        async throws -> CallAnswer
    {
        let address = HTTPSAddress(host: "gateway.example", port: 443, path: "/orders?token=secret")
        let call = ChallengedCall(APICall("GET", "/orders"), to: address, as: "alice", at: .zero) { _ in
            HTTPResponse(status: 500)
        }
        #expect(call.target == "GET https://gateway.example:443/orders")
        return try await MultiFactor(handlers: handlers).complete(call) { [sent] headers in
            sent.append(headers.pairs.map { "\($0.name): \($0.value)" })
            let status = headers.first("X-Answer") == nil ? 401 : headers.first("X-Second") == nil ? 403 : 200
            return CallAnswer(
                HTTPResponse(
                    status: status,
                    headers: status == 401 ? demand : status == 403 ? ["x-ca-err": "1234567"] : [:]))
        }
    }

    @Test("multi-factor handlers answer an API's demands in turn, and their headers accumulate (MAG 6.6)")
    func accumulate() async throws {
        let answer = try await call([Second(isAdmitted: true), Riddles(answers: ["X-Answer": "42"])])
        #expect(answer.status == 200)
        #expect(sent.entries == [[], ["X-Answer: 42"], ["X-Answer: 42", "X-Second: 2"]])
    }

    @Test("multi-factor handlers leave to the caller what none of them knows, and a success")
    func unknown() async throws {
        #expect(try await call([Second(isAdmitted: true)]).status == 401)
        #expect(try await call([Riddles(answers: ["X-Answer": "42"])], demanding: [:]).status == 401)
        #expect(sent.entries == [[], []])
    }

    @Test("a multi-factor handler gives up as a person or program wants it (180002), even before anything is sent")
    func cancelled() async throws {
        await #expect(throws: MultiFactorError.cancelled) { try await call([Riddles(answers: nil)]) }
        #expect(sent.entries == [[]])
        await #expect(throws: MultiFactorError.cancelled) { try await call([Second(isAdmitted: false)]) }
        #expect(sent.entries == [[]])
        #expect(MultiFactorError.cancelled.explanation.gateway == .local(180_002))
    }

    @Test(
        "a multi-factor handler cannot send session headers, or what is no header (180003)",
        arguments: [
            ("Authorization", "Bearer x"), ("MAG-Identifier", "x"), ("Content-Length", "0"), ("X Answer", "42"),
            ("", "42"), ("X-Answer", "4\r\n2"), ("X-Answer", "vierzig\u{FC}"),
            ("X-Answer", String(repeating: "4", count: 4097)),
        ])
    func invalid(name: String, value: String) async throws {
        let error = await #expect(throws: MultiFactorError.self) {
            try await call([Riddles(answers: HTTPHeaders([.init(name, value)]))])
        }
        #expect(error?.explanation.gateway == .local(180_003))
        #expect(sent.entries == [[]])
    }

    @Test("multi-factor handlers are not asked without end")
    func endless() async throws {
        let answer = try await call([Riddles(answers: ["X-Other": "1"])])
        #expect(answer.status == 401 && sent.entries.count == MultiFactor.limit + 1)
    }
}
