import GatewayLab
import Testing

@testable import Gateway

@Suite("A session that is closed", .serialized, .timeLimit(.minutes(5)))
struct SessionEndTests {
    @Test("a closed session registers nobody and stores nothing, and the gateway's next one finds its state")
    func closed() async throws {
        try await withBench { bench in
            let unused = bench.session()
            await unused.close()
            await #expect(throws: CancellationError.self) { try await unused.ready() }
            #expect(bench.lab.requestCounts.isEmpty)
            let session = bench.session()
            try await session.ready()
            let (before, magIdentifier) = (try await bench.records(), try await session.status().magIdentifier)
            await session.close()
            bench.lab.resetCounts()
            await #expect(throws: CancellationError.self) { try await session.logIn("alice") }
            await #expect(throws: CancellationError.self) { try await session.reset() }
            await #expect(throws: CancellationError.self) { try await session.dropAccessToken() }
            await #expect(throws: CancellationError.self) { try await session.ready(scope: "more") }
            #expect(bench.lab.requestCounts.values.reduce(0, +) == 0)
            #expect(try await bench.records() == before)
            #expect(try await bench.session().status().magIdentifier == magIdentifier)
        }
    }

    @Test("work of a closing session has ended when the closing returns, and leaves no unknown key")
    func underWay() async throws {
        try await withBench { bench in
            let delayed = bench.delayNext(.clientRegistration, milliseconds: 20_000)
            let session = bench.session()
            let registering = Task { try await session.ready() }
            await delayed.value
            await session.close()
            let left = try await bench.records()
            await #expect(throws: CancellationError.self) { try await registering.value }
            #expect(try await bench.records() == left)
            // The identifier that the gateway was told stays, so that the next session registers the same device.
            try await bench.session().ready()
            #expect(await bench.lab.devices().count == 1)
        }
    }
}
