import Cryptography
import GatewayLab
import HTTPClient
import Testing

@testable import Gateway

@Suite("Options of a session", .serialized, .timeLimit(.minutes(5)))
struct SessionOptionsTests {
    @Test("a stopped session sends nothing to anybody, and keeps what it has")
    func stopped() async throws {
        try await withBench { bench in
            try await bench.session().ready()
            bench.lab.resetCounts()
            let connections = bench.lab.connections
            var options = SessionOptions()
            options.isStopped = true
            let session = bench.session(options: options)
            #expect(await failure { try await session.renew() } == .stopped)
            #expect(await failure { try await session.deregister() } == .stopped)
            #expect(await failure { try await session.preloadKeys() } == .stopped)
            #expect(await failure { try await session.call(method: "GET", path: "/lab/hello") } == .stopped)
            let password = SecretBytes(utf8: "alice-password")
            #expect(await failure { try await session.logIn(userName: "alice", password: password) } == .stopped)
            #expect(await failure { try session.trust(for: "localhost") } == .stopped)
            #expect(bench.lab.connections == connections && bench.lab.requestCounts.isEmpty)
            #expect(try await session.status().registration == .registered)
            #expect(try await bench.session().call(method: "GET", path: "/lab/hello").status == 200)
        }
    }

    @Test("the keys that sign id_tokens can be loaded before one is needed (MAG 5.5)")
    func preloaded() async throws {
        try await withBench({
            $0.givesSessionsToClients = true
            $0.idTokenAlgorithm = .rs256
        }) { bench in
            let session = bench.session()
            try await session.preloadKeys()
            #expect(bench.count(.discovery) == 1 && bench.count(.keySet) == 1)
            try await session.ready()
            #expect(try await session.status().hasIDToken)
            #expect(bench.count(.discovery) == 1 && bench.count(.keySet) == 1)
        }
    }

    @Test("a session that does not verify signatures asks for no key")
    func unverified() async throws {
        try await withBench({
            $0.givesSessionsToClients = true
            $0.idTokenAlgorithm = .rs256
        }) { bench in
            var options = SessionOptions()
            options.verifiesIDTokens = false
            let session = bench.session(options: options)
            try await session.ready()
            #expect(try await session.status().hasIDToken)
            #expect(bench.count(.discovery) == 0 && bench.count(.keySet) == 0)
        }
    }
}
