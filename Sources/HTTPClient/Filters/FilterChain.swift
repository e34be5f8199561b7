/// Sends requests through filters, each kind in the order given.
public struct FilterChain: Sendable {
    private let client: HTTPClient
    private let requestFilters: [any RequestFilter]
    private let responseFilters: [any ResponseFilter]
    private let challengeFilters: [any ChallengeFilter]
    private let attempts: Int

    /// - Parameter attempts: the most times one request is sent, at least 1.
    public init(
        client: HTTPClient, requestFilters: [any RequestFilter] = [], responseFilters: [any ResponseFilter] = [],
        challengeFilters: [any ChallengeFilter] = [], attempts: Int = 4
    ) {
        precondition(attempts > 0)
        self.client = client
        self.requestFilters = requestFilters
        self.responseFilters = responseFilters
        self.challengeFilters = challengeFilters
        self.attempts = attempts
    }

    /// Sends a request; a restart sends the original through all request filters again. The response to the last
    /// attempt is returned even when a filter asks for one more.
    ///
    /// - Throws: ``HTTPError``, or what a filter threw.
    public func send(_ original: HTTPRequest) async throws -> HTTPResponse {
        var attempt = 1
        while true {
            var request = original
            for filter in requestFilters { try await filter.prepare(&request, attempt: attempt) }
            try await answerChallenges(&request)
            let response = try await client.send(request)
            if let accepted = try await judge(response, to: request, attempt: attempt) { return accepted }
            guard attempt < attempts else { return response }
            attempt += 1
        }
    }

    /// Sends a request once, and returns as soon as the head of its answer is there. No response filter judges it.
    ///
    /// - Throws: ``HTTPError``, or what a filter threw.
    public func open(_ original: HTTPRequest) async throws -> HTTPStream {
        var request = original
        for filter in requestFilters { try await filter.prepare(&request, attempt: 1) }
        try await answerChallenges(&request)
        return try await client.open(request)
    }

    /// - Returns: `nil` when a filter asked for a restart.
    private func judge(_ received: HTTPResponse, to request: HTTPRequest, attempt: Int) async throws -> HTTPResponse? {
        var response = received
        for filter in responseFilters {
            switch try await filter.judge(response, to: request, attempt: attempt) {
            case .accept(let accepted): response = accepted
            case .restart: return nil
            }
        }
        return response
    }

    private func answerChallenges(_ request: inout HTTPRequest) async throws {
        guard request.identity == nil, let target = try? RequestDestination(request.url), target.isProtected else {
            return
        }
        for filter in challengeFilters {
            guard let identity = try await filter.identity(for: target.host) else { continue }
            request.identity = identity
            return
        }
    }
}
