import HTTPClient
import Testing

@Suite("A filter chain", .timeLimit(.minutes(5)))
struct FilterChainTests {
    private let client = HTTPClient()

    /// Adds its name and the attempt.
    private struct Mark: RequestFilter {
        let name: String
        func prepare(_ request: inout HTTPRequest, attempt: Int) async throws {
            request.headers.add("X-Mark", "\(name)\(attempt)")
        }
    }

    /// Asks for restarts before the given attempt and leaves a mark on what it accepts.
    private struct RestartBefore: ResponseFilter {
        let attempt: Int
        func judge(_ response: HTTPResponse, to request: HTTPRequest, attempt: Int) async throws -> Judgement {
            guard attempt >= self.attempt else { return .restart }
            var response = response
            response.headers.add(
                "X-Judged", "\(self.attempt) of \(request.headers.all("X-Mark").joined(separator: " "))")
            return .accept(response)
        }
    }

    private struct Refusal: Error, Equatable {}
    private struct Refuse: ResponseFilter {
        func judge(_ response: HTTPResponse, to request: HTTPRequest, attempt: Int) async throws -> Judgement {
            throw Refusal()
        }
    }

    @Test("a filter chain sends the original request again through all filters, in order")
    func restart() async throws {
        let server = try await TestServer()
        let chain = FilterChain(
            client: client, requestFilters: [Mark(name: "a"), Mark(name: "b")],
            responseFilters: [RestartBefore(attempt: 1), RestartBefore(attempt: 3)])
        let response = try await chain.send(.plain("GET", server.http("/echo")))
        #expect(try response.echo().values("X-Mark") == ["a3", "b3"])
        #expect(response.headers.all("X-Judged") == ["1 of a3 b3", "3 of a3 b3"])
    }

    @Test("a filter chain gives up after four attempts and returns the last response (MAG 6.4)")
    func attempts() async throws {
        let server = try await TestServer()
        let chain = FilterChain(
            client: client, requestFilters: [Mark(name: "a")], responseFilters: [RestartBefore(attempt: 9)])
        let response = try await chain.send(.plain("GET", server.http("/echo")))
        #expect(try response.echo().values("X-Mark") == ["a4"])
        #expect(response.headers.first("X-Judged") == nil)
    }

    @Test("a filter chain passes on what a filter or the client throws")
    func errors() async throws {
        let server = try await TestServer()
        await #expect(throws: Refusal()) {
            try await FilterChain(client: client, responseFilters: [Refuse()]).send(.plain("GET", server.http("/echo")))
        }
        await #expect(throws: HTTPError.plainHTTPRefused(host: "gw.test")) {
            try await FilterChain(client: client).send(HTTPRequest("GET", "http://gw.test/"))
        }
    }
}
