import Cryptography
import Foundation
import GatewayLab
import Groundwork
import HTTPClient
import OAuth
import Testing
import Vault

@testable import Gateway

@Suite("Registration at the lab gateway", .serialized, .timeLimit(.minutes(5)))
struct RegistrationLifeTests {
    @Test("a first call registers by itself: initialize, register, token, call (MAG 0.2, MAG checklist 9)")
    func firstCall() async throws {
        try await withBench { bench in
            let session = bench.session()
            let log = EventLog(session.events)
            let response = try await session.call(method: "GET", path: "/lab/hello")
            #expect(response.status == 200)
            #expect(
                bench.lab.requestCounts == [
                    .clientInitialization: 1, .clientRegistration: 1, .token: 1, .hello: 1,
                ])
            let device = try #require(await bench.lab.devices().first)
            let status = try await session.status()
            #expect(status.registration == .registered)
            #expect(status.magIdentifier == device.magIdentifier && status.deviceID == device.deviceID)
            #expect(status.deviceID?.count == 64)
            #expect(status.certificate?.daysLeft == 364)
            #expect(status.token != nil && status.lastContact != nil && status.lastFailure == nil)
            #expect(
                await log.names() == [
                    "client-will-initialize", "client-did-initialize", "device-will-register", "device-did-register",
                    "token-did-arrive",
                ])
        }
    }

    @Test("a registration is asked for once, however many callers need it")
    func singleFlight() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await session.call(method: "GET", path: "/lab/hello").status }
                }
                for try await status in group { #expect(status == 200) }
            }
            #expect(
                bench.lab.requestCounts == [
                    .clientInitialization: 1, .clientRegistration: 1, .token: 1, .hello: 20,
                ])
        }
    }

    @Test("a registration and token outlive a restart: the second start makes no call")
    func restart() async throws {
        try await withBench { bench in
            let first = bench.session()
            let token = try await first.accessToken()
            bench.lab.resetCounts()
            let second = bench.session()
            #expect(try await second.accessToken().value == token.value)
            #expect(bench.lab.requestCounts.isEmpty && bench.lab.connections == 0)
            #expect(try await second.status().magIdentifier == first.status().magIdentifier)
        }
    }

    @Test("a registration whose answer was lost is repeated with the same identifier and key, and succeeds")
    func lostAnswer() async throws {
        try await withBench { bench in
            bench.lab.inject(Fault(.dropAnswer, at: .clientRegistration))
            let session = bench.session()
            guard case .noAnswer(.registerDevice, _)? = await failure({ try await session.ready() }) else {
                Issue.record("the registration did not fail")
                return
            }
            let lost = try #require(await bench.lab.devices().first)
            bench.lab.clearFaults()
            // A restart in between changes nothing.
            let restarted = bench.session()
            try await restarted.ready()
            let devices = await bench.lab.devices()
            #expect(devices.map(\.deviceID) == [lost.deviceID] && devices.map(\.publicKey) == [lost.publicKey])
            #expect(try await restarted.status().magIdentifier == lost.magIdentifier)
            #expect(try await bench.session().store.holdings().pendingKey == nil)
        }
    }

    @Test("a registration that the gateway says exists already is an error with what to do (120001)")
    func alreadyRegistered() async throws {
        try await withBench { bench in
            bench.lab.inject(Fault(.error(code: 1_007_105, status: 400), at: .clientRegistration, times: 1))
            let session = bench.session()
            let error = await failure { try await session.ready() }
            #expect(error?.code == "gateway.device-already-registered")
            #expect(error?.localCode == 120_001)
            #expect(error?.remedy?.contains("latchkey reset") == true)
            let status = try await session.status()
            #expect(status.lastFailure?.error == error)
            #expect(bench.count(.clientRegistration) == 1)
        }
    }

    @Test("a registration that awaits activation is kept, and ends when it is activated (MAG checklist 16)")
    func activation() async throws {
        try await withBench({ $0.activatesDevices = false }) { bench in
            let session = bench.session()
            let log = EventLog(session.events)
            let error = await failure { try await session.ready() }
            let magIdentifier = try #require(try await session.status().magIdentifier)
            #expect(error == .awaitingActivation(magIdentifier: magIdentifier))
            #expect(try await session.status().registration == .pending)

            let restarted = bench.session()
            #expect(await failure { try await restarted.ready() } == .awaitingActivation(magIdentifier: magIdentifier))
            try await bench.lab.activate(magIdentifier: magIdentifier)
            try await session.ready()
            #expect(try await session.status().registration == .registered)
            #expect(bench.count(.clientRegistration) == 1)
            let names = await log.names()
            #expect(names.contains("device-awaits-activation") && names.contains("device-did-activate"))
        }
    }

    @Test(
        "a registration that a captive portal or a proxy answers changes nothing",
        arguments: [Fault.Kind.captivePortal, .status(502)])
    func notTheGateway(kind: Fault.Kind) async throws {
        try await withBench { bench in
            bench.lab.inject(Fault(kind, at: .clientRegistration, times: 1))
            let session = bench.session()
            #expect(await failure { try await session.ready() } != nil)
            #expect(try await session.status().registration == .unregistered)
            try await session.ready()
            #expect(await bench.lab.devices().count == 1)
        }
    }

    @Test("a registration that the gateway removed is removed here, until a person wants it back (MAG 12.4)")
    func deregister() async throws {
        try await withBench { bench in
            try await Gateways(vault: bench.vault).activate(bench.configuration)
            let session = bench.session()
            try await session.ready()
            let old = try await session.status()
            let log = EventLog(session.events)
            try await session.deregister()
            #expect(await bench.lab.devices().isEmpty)
            #expect(try await bench.records() == ["configuration", "registration-rest"])
            let status = try await session.status()
            #expect(status.registration == .unregistered && status.deviceID == nil && status.token == nil)
            #expect(status.client == nil && status.magIdentifier == nil)
            #expect(await log.names() == ["device-will-deregister", "device-did-deregister"])

            bench.lab.resetCounts()
            #expect(await failure { try await session.ready() } == .notRegistered)
            #expect(await failure { try await bench.session().ready() } == .notRegistered)
            #expect(bench.count(.clientRegistration) == 0)
            let again = try await bench.sessionEnrolledAgain()
            try await again.ready()
            let new = try await again.status()
            #expect(new.registration == .registered && new.deviceID != old.deviceID)
            #expect(await failure { try await again.deregister() } == nil)
            #expect(await failure { try await again.deregister() } == .notRegistered)
        }
    }

    @Test(
        "a registration is kept whole when the gateway does not remove it (MAG checklist 44)",
        arguments: [
            Fault.Kind.error(code: 1_001_000, status: 500), .error(code: 1_001_107, status: 400), .status(404), .drop,
        ])
    func deregisterFails(kind: Fault.Kind) async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            let (before, records) = (try await session.status(), try await bench.records())
            bench.lab.inject(Fault(kind, at: .removal))
            #expect(await failure { try await session.deregister() } != nil)
            let after = try await session.status()
            #expect(after.magIdentifier == before.magIdentifier && after.token?.receivedAt == before.token?.receivedAt)
            #expect(try await bench.records() == records)
            #expect(try await session.call(method: "GET", path: "/lab/hello").status == 200)
        }
    }

    @Test("a reset removes one registration here alone, and the next identifier is new (MAG 12.4)")
    func reset() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            let old = try await session.status()
            let other = RecordName(scope: "other.test:8443/", name: "access-token")
            try await bench.vault.commit([.put(other, .token, SecretBytes(utf8: "kept"))])
            bench.lab.resetCounts()
            try await session.reset()
            #expect(bench.lab.requestCounts.isEmpty)
            #expect(try await bench.records() == ["registration-rest"])
            #expect(try await bench.vault.record(other) != nil)
            #expect(await bench.lab.devices().map(\.magIdentifier) == [old.magIdentifier])
            let again = try await bench.sessionEnrolledAgain()
            try await again.ready()
            #expect(try await again.status().deviceID != old.deviceID)
        }
    }

    @Test("a changed master client id keeps the registration, not credentials and tokens (MAG checklist 7)")
    func masterChange() async throws {
        let second = MasterClient(clientID: "second-master")
        try await withBench({ $0.masterClients.append(second) }) { bench in
            let session = bench.session()
            try await session.ready()
            let before = try await session.status()
            let configuration = try GatewayConfiguration(
                parsing: try await bench.lab.configurationDocument(for: second.clientID))
            bench.lab.resetCounts()
            let changed = bench.session(configuration)
            let held = try await changed.status()
            #expect(held.magIdentifier == before.magIdentifier && held.client == nil && held.token == nil)
            #expect(try await !bench.records().contains("board-tokens"))
            try await changed.ready()
            #expect(bench.lab.requestCounts == [.clientInitialization: 1, .token: 1])
        }
    }

    @Test("a registration with static credentials never initializes the client (MAG checklist 8)")
    func staticCredentials() async throws {
        let master = MasterClient(clientID: "static-client", staticSecret: "a static secret of the lab")
        try await withBench({ $0.masterClients = [master] }) { bench async throws in
            let session = bench.session()
            #expect(try await session.call(method: "GET", path: "/lab/hello").status == 200)
            #expect(bench.count(.clientInitialization) == 0)
            #expect(
                try await session.status().client == .init(clientID: "static-client", expiresAt: nil, isStatic: true))
            bench.lab.inject(Fault(.error(code: 3_003_201, status: 401), at: .token, times: 1))
            bench.lab.resetCounts()
            #expect(await failure { try await session.refreshedToken() }?.code == "gateway.client-credentials-invalid")
            #expect(bench.lab.requestCounts == [.token: 1])
        }
    }
}
