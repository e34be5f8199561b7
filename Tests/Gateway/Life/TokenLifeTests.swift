import Cryptography
import Foundation
import GatewayLab
import Groundwork
import HTTPClient
import OAuth
import Testing

@testable import Gateway

@Suite("Tokens and calls at the lab gateway", .serialized, .timeLimit(.minutes(5)))
struct TokenLifeTests {
    @Test("a token that died at the gateway is replaced once for all its callers (…990, MAG checklist 24)")
    func expired() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            try await bench.lab.revokeTokens()
            bench.lab.resetCounts()
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<10 {
                    group.addTask { try await session.call(method: "GET", path: "/lab/hello").status }
                }
                for try await status in group { #expect(status == 200) }
            }
            #expect(bench.count(.token) == 1)
            #expect(bench.count(.clientInitialization) == 0 && bench.count(.clientRegistration) == 0)
        }
    }

    @Test("client credentials that the gateway forgot are replaced, with new tokens and the old registration (…201)")
    func clientForgotten() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            let before = try await session.status()
            try await bench.lab.forgetClientCredentials()
            bench.lab.resetCounts()
            _ = try await session.refreshedToken()
            let after = try await session.status()
            #expect(bench.lab.requestCounts == [.token: 2, .clientInitialization: 1])
            #expect(after.magIdentifier == before.magIdentifier && after.client?.clientID != before.client?.clientID)
        }
    }

    @Test(
        "a request is tried four times in all (MAG checklist 24)",
        arguments: [
            (3_007_990, "gateway.token-expired"), (1_002_201, "gateway.client-credentials-invalid"),
        ])
    func attempts(code: Int, name: String) async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            bench.lab.inject(Fault(.error(code: code, status: 401), at: .hello))
            #expect(await failure { try await session.call(method: "GET", path: "/lab/hello") }?.code == name)
            #expect(bench.count(.hello) == 4)
        }
    }

    @Test("a token endpoint that refuses the client is asked four times in all (MAG checklist 24)")
    func tokenAttempts() async throws {
        try await withBench { bench in
            bench.lab.inject(Fault(.error(code: 3_003_201, status: 401), at: .token))
            #expect(await failure { try await bench.session().ready() }?.code == "gateway.client-credentials-invalid")
            #expect(bench.count(.token) == 4)
        }
    }

    @Test("a device removed at the gateway keeps its data and does not register itself (…107, MAG checklist 26)")
    func removed() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            let magIdentifier = try #require(try await session.status().magIdentifier)
            try await bench.lab.removeDevice(magIdentifier: magIdentifier)
            bench.lab.resetCounts()
            let error = await failure { try await session.call(method: "GET", path: "/lab/hello") }
            #expect(error?.code == "gateway.device-unknown" && error?.localCode == 120_006)
            #expect(bench.count(.clientRegistration) == 0)
            #expect(try await session.status().magIdentifier == magIdentifier)
        }
    }

    @Test("a token is used until it ends, and a wall clock that jumps does not end it")
    func life() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            bench.time.set(by: 86_400)
            try await session.ready()
            bench.time.set(by: -86_400)
            bench.time.pass(3480)
            try await session.ready()
            #expect(bench.count(.token) == 1)
            bench.time.pass(121)
            try await session.ready()
            #expect(bench.count(.token) == 2)
        }
    }

    @Test("a scope that the gateway does not grant is an error, not a loop (MAG 5.2)")
    func scope() async throws {
        try await withBench { bench async throws in
            let session = bench.session()
            let error = await failure { try await session.accessToken(scope: "payments") }
            guard case .scopeNotGranted(let requested, _)? = error else {
                Issue.record("granted: \(String(describing: error))")
                return
            }
            #expect(requested == "payments" && error?.localCode == 130_203)
            #expect(bench.count(.token) == 1)
            #expect(try await session.accessToken(scope: "mas_messaging").scope.contains("mas_messaging"))
        }
    }

    @Test("a board's token comes by refresh token, then id_token, then credentials (MAG checklist 20)")
    func order() async throws {
        try await withBench({ $0.givesSessionsToClients = true }) { bench in
            let session = bench.session()
            let log = EventLog(session.events)
            try await session.ready()
            _ = try await session.refreshedToken()
            try await bench.lab.revokeRefreshTokens()
            _ = try await session.refreshedToken()
            try await bench.lab.revokeRefreshTokens()
            bench.lab.inject(Fault(.error(code: 3_003_113, status: 400), at: .token, times: 2))
            _ = try await session.refreshedToken()
            let grants = await log.all().compactMap { event in
                if case .tokenDidArrive(let grant, _) = event { grant } else { nil }
            }
            #expect(grants == ["client_credentials", "refresh_token", "id_token", "client_credentials"])
        }
    }

    @Test(
        "a refresh token is kept when the refresh got no answer (MAG checklist 27)",
        arguments: [
            Fault.Kind.drop, .status(502), .captivePortal,
        ])
    func refreshKept(kind: Fault.Kind) async throws {
        try await withBench({ $0.givesSessionsToClients = true }) { bench in
            let session = bench.session()
            try await session.ready()
            try await session.dropAccessToken()
            bench.lab.inject(Fault(kind, at: .token))
            #expect(await failure { try await session.ready() } != nil)
            bench.lab.clearFaults()
            let log = EventLog(session.events)
            // The same after a restart.
            #expect(try await bench.session().store.holdings().board.refresh != nil)
            try await session.ready()
            guard case .tokenDidArrive("refresh_token", _)? = await log.all().last else {
                Issue.record("the refresh token was lost")
                return
            }
        }
    }

    @Test("an id_token is checked with a published key, from a key set read once (MAG checklist 22, 23)")
    func publishedKeys() async throws {
        try await withBench({
            $0.givesSessionsToClients = true
            $0.idTokenAlgorithm = .rs256
        }) { bench in
            let session = bench.session()
            try await session.ready()
            #expect(try await session.status().hasIDToken)
            #expect(bench.count(.discovery) == 1 && bench.count(.keySet) == 1)
            // A second one by the same key needs no reading.
            try await session.revokeTokens()
            bench.lab.inject(Fault(.error(code: 3_003_113, status: 400), at: .token, times: 1))
            try await session.ready()
            #expect(bench.count(.keySet) == 1)
        }
    }

    @Test(
        "a key set that lacks the key is read again once, and no token is taken without it (MAG checklist 23)")
    func unknownKey() async throws {
        let foreign = try KeySet(#"{"keys":[]}"#.utf8.map { $0 })
        try await withBench({
            $0.givesSessionsToClients = true
            $0.idTokenAlgorithm = .rs256
        }) { bench in
            let session = bench.session()
            session.operations.parts.tokens.idTokens.remember(foreign)
            try await session.ready()
            #expect(bench.count(.keySet) == 1)

            try await session.reset()
            let again = try await bench.sessionEnrolledAgain()
            again.operations.parts.tokens.idTokens.remember(foreign)
            bench.lab.inject(Fault(.captivePortal, at: .keySet))
            #expect(await failure { try await again.ready() }?.code == "gateway.unexpected-answer")
            #expect(bench.count(.keySet) == 2)
            #expect(try await again.status().token == nil)
        }
    }

    @Test("revocation ends the tokens at the gateway and here (MAG 5.8)")
    func revocation() async throws {
        try await withBench({ $0.givesSessionsToClients = true }) { bench in
            let session = bench.session()
            try await session.ready()
            try await session.revokeTokens()
            #expect(bench.count(.revocation) == 1)
            #expect(await bench.lab.accessTokens().isEmpty)
            #expect(try await session.status().token == nil)
            let held = try await bench.session().store.holdings().board
            #expect(held.access == nil && held.refresh == nil && held.id != nil)
        }
    }

    @Test("a call carries token, mag-identifier and caller's headers, and returns the answer (MAG 6.1, 6.3)")
    func injected() async throws {
        try await withBench { bench in
            let session = bench.session()
            let response = try await session.call(
                method: "POST", path: "/lab/echo", headers: ["X-Mine": "yes", "Authorization": "Bearer stolen"],
                body: Array("hello".utf8))
            let text = String(decoding: response.body, as: UTF8.self).lowercased()
            let magIdentifier = try #require(try await session.status().magIdentifier)
            #expect(response.status == 200)
            #expect(text.contains(magIdentifier) && text.contains("x-mine") && !text.contains("stolen"))
            #expect(try await session.call(method: "GET", path: "/nowhere").status == 404)
        }
    }

    @Test("a host without configuration is not called, a public one gets nothing of ours (MAG checklist 17, 31)")
    func hosts() async throws {
        try await withBench { bench in
            try await withBench { other in
                let url = other.lab.baseURL + "/lab/hello"
                #expect(
                    await failure { try await bench.session().call(method: "GET", path: url) }
                        == .hostNotConfigured(host: "localhost:\(other.lab.port)"))
                #expect(bench.lab.connections == 0 && other.lab.connections == 0)

                let host = try HostSecurity(
                    host: "localhost", port: other.lab.port, isPublic: true, anchors: other.configuration.anchors)
                let session = bench.session(hosts: [host])
                try await session.ready()
                let response = try await session.call(method: "GET", path: url)
                // The demo API says 992 when there is no token at all.
                #expect(response.headers.first("x-ca-err")?.hasSuffix("992") == true)
                #expect(other.count(.hello) == 1)
            }
        }
    }

    @Test("an answer of another host is not taken for contact with the gateway")
    func contact() async throws {
        try await withBench { bench in
            // The lab by its address is another host, with the same authority.
            let host = try HostSecurity(
                host: "127.0.0.1", port: bench.lab.port, anchors: bench.configuration.anchors, nameCheck: .off)
            let session = bench.session(hosts: [host])
            try await session.ready()
            let contact = try #require(try await session.status().lastContact)
            bench.time.pass(60)
            let address = "https://127.0.0.1:\(bench.lab.port)/lab/hello"
            #expect(try await session.call(method: "GET", path: address).status == 200)
            #expect(try await session.status().lastContact == contact)
            #expect(try await session.call(method: "GET", path: "/lab/hello").status == 200)
            #expect(try await session.status().lastContact ?? contact >= contact + 60)
        }
    }

    @Test("a caller who gives up does not take the registration away from the others")
    func cancellation() async throws {
        try await withBench { bench in
            let delayed = bench.delayNext(.clientInitialization, milliseconds: 10_000)
            let session = bench.session()
            let impatient = Task { try await session.ready() }
            let patient = Task { try await session.ready() }
            await delayed.value
            impatient.cancel()
            await #expect(throws: CancellationError.self) { try await impatient.value }
            try await patient.value
            #expect(bench.count(.clientInitialization) == 1)
        }
    }
}
