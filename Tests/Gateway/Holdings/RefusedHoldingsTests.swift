import OAuth
import Testing

@testable import Gateway

@Suite("Holdings after a refusal")
struct RefusedHoldingsTests {
    /// The parts of what is held that are there, in words.
    private func parts(_ holdings: Holdings) -> [String] {
        func tokens(_ name: String, _ tokens: HeldTokens) -> [String] {
            [tokens.access.map { _ in "access" }, tokens.refresh.map { _ in "refresh" }, tokens.id.map { _ in "id" }]
                .compactMap(\.self).map { "\(name) \($0)" }
        }
        return [
            holdings.identifierKey.map { _ in "identifier" }, holdings.device.map { _ in "device" },
            holdings.client.map { _ in "client" }, holdings.user.map { _ in "user" },
            holdings.rest.map { "rest \($0)" },
        ].compactMap(\.self) + tokens("board", holdings.board) + tokens("user", holdings[.user])
    }

    /// What a refusal has dropped of a board at work with a user.
    private func dropped(_ change: (inout Holdings) throws -> Void) throws -> Set<String> {
        var holdings = try SampleHoldings.working()
        let before = parts(holdings)
        try change(&holdings)
        return Set(before).subtracting(parts(holdings))
    }

    private static let clientsTokens: Set<String> = [
        "client", "board access", "board refresh", "user access", "user refresh",
    ]

    private static let recoveryRows: [(Recovery, Principal, Set<String>)] = [
        (.dropAccessToken, .board, ["board access"]), (.dropAccessToken, .user, ["user access"]),
        (.reinitializeClient, .board, clientsTokens), (.reinitializeClient, .user, clientsTokens),
        (.renewCertificate, .board, []), (.renewCertificate, .user, []),
    ]

    @Test("a refusal in a recovery drops what was refused, and nothing else", arguments: recoveryRows)
    func recoveries(recovery: Recovery, principal: Principal, expected: Set<String>) throws {
        #expect(try dropped { $0.apply(recovery, as: principal) } == expected)
    }

    private static let grantRows: [(Bool, Bool, Principal, Set<String>)] = [
        (true, false, .board, ["board access", "board refresh"]),
        (false, true, .board, ["board id"]), (true, true, .board, ["board access", "board refresh", "board id"]),
        (true, false, .user, ["user access", "user refresh"]), (false, true, .user, ["user id"]),
        (true, true, .user, ["user access", "user refresh", "user id", "user"]), (false, false, .user, []),
    ]

    @Test("a refused grant drops the tokens that it spent and those without use", arguments: grantRows)
    func grants(spends: Bool, dropsIDToken: Bool, principal: Principal, expected: Set<String>) throws {
        let consequence = GrantConsequence(.nextGrant, dropsIDToken: dropsIDToken)
        #expect(
            try dropped { $0.apply(consequence, spendsRefreshToken: spends, of: principal) } == expected)
    }

    @Test("a refusal drops the log-in of a user of whom nothing else is left")
    func lastToken() throws {
        for recovery in [Recovery.dropAccessToken, .reinitializeClient] {
            var holdings = try SampleHoldings.working()
            holdings.user?.tokens.id = nil
            holdings.user?.tokens.refresh = nil
            holdings.apply(recovery, as: .user)
            #expect(holdings.user == nil)
        }
    }

    @Test(
        "a refused renewal drops everything, and an unknown device's board rests",
        arguments: [(1_000_101, nil), (1_000_107, RegistrationRest.withdrawn(code: 1_000_107))])
    func renewal(code: Int, rest: RegistrationRest?) throws {
        let configuration = try GatewayConfiguration(parsing: Documents.document())
        var holdings = try SampleHoldings.working()
        holdings.endRegistration(
            after: Refusal(operation: .renewCertificate, status: 400, code: code), configuration)
        #expect(parts(holdings) == (rest.map { ["rest \($0)"] } ?? []))
    }

    @Test(
        "a refusal leads to the recovery that its operation and code allow",
        arguments: [
            (GatewayOperation.call, 3_007_990, Holdings.AfterRefusal.recover(.dropAccessToken)),
            (.obtainToken, 3_003_201, .recover(.reinitializeClient)),
            (.obtainToken, 3_003_206, .recover(.renewCertificate)),
            (.obtainToken, 3_003_107, .fail), (.removeDevice, 1_001_201, .fail),
            // The registration went with the refusal: the same work registers anew.
            (.renewCertificate, 1_000_101, .repeatWork),
        ])
    func next(operation: GatewayOperation, code: Int, next: Holdings.AfterRefusal) throws {
        let refusal = Refusal(operation: operation, status: 401, code: code)
        #expect(try SampleHoldings.working().next(after: refusal) == next)
    }

    @Test("a refusal leads to nothing without a certificate, with static credentials, or while a person is awaited")
    func nothing() throws {
        var holdings = try SampleHoldings.working()
        holdings.device = nil
        #expect(holdings.next(after: Refusal(operation: .obtainToken, status: 401, code: 3_003_206)) == .fail)
        holdings = Holdings(rest: .withdrawn(code: 1_000_107))
        #expect(holdings.next(after: Refusal(operation: .renewCertificate, status: 401, code: 1_000_107)) == .fail)
        holdings.client = try SampleHoldings.full().client.map {
            ClientCredentials(masterID: $0.masterID, authentication: $0.authentication, isStatic: true)
        }
        #expect(holdings.next(after: Refusal(operation: .obtainToken, status: 401, code: 3_003_201)) == .fail)
    }
}
