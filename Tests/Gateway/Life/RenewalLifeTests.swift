import Cryptography
import Foundation
import GatewayLab
import Groundwork
import HTTPClient
import Testing

@testable import Gateway

@Suite("Renewal at the lab gateway", .serialized, .timeLimit(.minutes(5)))
struct RenewalLifeTests {
    func serial(_ session: GatewaySession) async throws -> String? {
        try await session.status().certificate?.serialNumber
    }

    @Test("renewal uses a new certificate for the same key once it has proven itself (MAG checklist 15, 18)")
    func renew() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            let (old, key) = (try await serial(session), try await session.identity()?.key.publicKey)
            let log = EventLog(session.events)
            bench.lab.resetCounts()
            try await session.renew()
            #expect(try await serial(session) != old)
            #expect(try await session.identity()?.key.publicKey == key)
            #expect(bench.lab.requestCounts == [.renewal: 1, .discovery: 1])
            #expect(try await session.call(method: "GET", path: "/lab/hello").status == 200)
            #expect(bench.count(.token) == 0)
            #expect(try await serial(bench.session()) == serial(session))
            #expect(await log.names() == ["device-will-renew", "device-did-renew"])
        }
    }

    @Test("renewal comes before a call when fewer than 30 days are left, once, even for short certificates")
    func window() async throws {
        try await withBench({ $0.lives.deviceCertificate = 10 * 86_400 }) { bench in
            let session = bench.session()
            for _ in 0..<3 { #expect(try await session.call(method: "GET", path: "/lab/hello").status == 200) }
            #expect(bench.count(.renewal) == 1)
            // Half of the ten days later it is time again.
            bench.time.pass(5.1 * 86_400)
            _ = try await session.call(method: "GET", path: "/lab/hello")
            #expect(bench.count(.renewal) == 2)
        }
    }

    @Test("renewal follows a …206 of the called API, which is then called again (MAG checklist 18)")
    func onDemand() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            bench.lab.inject(Fault(.error(code: 3_003_206, status: 401), at: .hello, times: 1))
            #expect(try await session.call(method: "GET", path: "/lab/hello").status == 200)
            #expect(bench.count(.renewal) == 1 && bench.count(.hello) == 2)
        }
    }

    @Test("a refused renewal ends the registration, and the board registers anew (MAG checklist 19)")
    func refused() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            let old = try await session.status()
            bench.lab.inject(Fault(.error(code: 1_000_101, status: 400), at: .renewal, times: 1))
            let log = EventLog(session.events)
            #expect(await failure { try await session.renew() }?.code == "gateway.certificate-invalid")
            let status = try await session.status()
            #expect(status.registration == .unregistered && status.client == nil && status.token == nil)
            #expect(status.deviceID == nil)
            try await session.ready()
            #expect(try await session.status().deviceID != old.deviceID)
            #expect(
                await log.names().prefix(3) == [
                    "device-will-renew", "device-did-fail-to-renew", "registration-did-drop",
                ])
        }
    }

    @Test("a renewal refused on the way to a call ends in a new registration and the call's answer")
    func refusedInChain() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            bench.time.pass(340 * 86_400)
            bench.lab.advanceClock(by: .seconds(340 * 86_400))
            bench.lab.inject(Fault(.error(code: 1_000_101, status: 400), at: .renewal, times: 1))
            bench.lab.resetCounts()
            try await session.ready()
            #expect(bench.count(.renewal) == 1 && bench.count(.clientRegistration) == 1)
        }
    }

    @Test(
        "a renewal that the gateway does not answer keeps everything (MAG checklist 19)",
        arguments: [
            Fault.Kind.drop, .status(502), .status(404), .captivePortal, .error(code: 1_000_000, status: 500),
            .error(code: 1_000_111, status: 429),
        ])
    func inconclusive(kind: Fault.Kind) async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            let old = try await serial(session)
            bench.lab.inject(Fault(kind, at: .renewal))
            #expect(await failure { try await session.renew() } != nil)
            bench.lab.clearFaults()
            #expect(try await serial(session) == old)
            #expect(try await session.status().token != nil)
            try await session.renew()
            #expect(try await serial(session) != old)
        }
    }

    @Test("a renewal that fails before a call lets the call go on, and is not tried at every call")
    func pause() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            bench.time.pass(340 * 86_400)
            bench.lab.inject(Fault(.status(503), at: .renewal))
            bench.lab.resetCounts()
            for _ in 0..<3 { try await session.ready() }
            #expect(bench.count(.renewal) == 1)
            bench.time.pass(61)
            try await session.ready()
            #expect(bench.count(.renewal) == 2)
        }
    }

    @Test("a renewal whose certificate the gateway does not take itself keeps the old one")
    func notProven() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            let old = try await serial(session)
            bench.lab.inject(Fault(.error(code: 1_000_206, status: 401), at: .discovery, times: 1))
            #expect(await failure { try await session.renew() }?.code == "gateway.renewed-certificate-refused")
            #expect(try await serial(session) == old)
            #expect(try await bench.session().store.holdings().device?.renewedChain == [])
            #expect(try await session.call(method: "GET", path: "/lab/hello").status == 200)
        }
    }

    @Test("a renewal interrupted before the proof goes on with its certificate, also after a restart")
    func interrupted() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            let old = try await serial(session)
            bench.lab.inject(Fault(.drop, at: .discovery))
            guard case .noAnswer? = await failure({ try await session.renew() }) else {
                Issue.record("the proof did not fail")
                return
            }
            #expect(try await serial(session) == old)
            bench.lab.clearFaults()
            let restarted = bench.session()
            try await restarted.ready()
            #expect(try await serial(restarted) != old)
            #expect(bench.count(.renewal) == 1)
        }
    }

    @Test("a renewal of a removed device drops it, and nothing registers by itself (MAG checklist 26)")
    func withdrawn() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            let magIdentifier = try #require(try await session.status().magIdentifier)
            try await bench.lab.removeDevice(magIdentifier: magIdentifier)
            bench.lab.resetCounts()
            #expect(await failure { try await session.renew() }?.code == "gateway.device-unknown")
            #expect(await failure { try await session.ready() }?.code == "gateway.registration-withdrawn")
            #expect(await failure { try await bench.session().ready() }?.code == "gateway.registration-withdrawn")
            #expect(bench.count(.clientRegistration) == 0)
            try await Gateways(vault: bench.vault).activate(bench.configuration)
            try await bench.session().ready()
            #expect(bench.count(.clientRegistration) == 1)
        }
    }

    @Test("a renewal on a board that is not registered says so")
    func unregistered() async throws {
        try await withBench { bench in
            #expect(await failure { try await bench.session().renew() } == .notRegistered)
            #expect(bench.lab.connections == 0)
        }
    }
}
