import Cryptography
import Foundation
import GatewayLab
import HTTPClient
import Testing

@testable import Gateway

/// Renewal of certificates that have ended.
extension RenewalLifeTests {
    @Test("renewal of a certificate that has ended since is tried at the next use, however recent a failed attempt")
    func ended() async throws {
        try await withBench({ $0.lives.deviceCertificate = 28 }) { bench in
            let session = bench.session()
            bench.lab.inject(Fault(.status(503), at: .renewal, times: 1))
            try await session.ready()
            // Shorter than the pause after a failure, and no call that could be answered …206 is made.
            bench.time.pass(29)
            bench.lab.advanceClock(by: .seconds(29))
            _ = try await session.accessToken()
            #expect(bench.count(.renewal) == 2)
            #expect(try #require(await session.status().certificate).notAfter > bench.time.clock())
        }
    }

    @Test("an ended certificate is asked for once in five minutes, however many calls, which are told why")
    func endedAndPaused() async throws {
        try await withBench({
            $0.lives.deviceCertificate = 40 * 86_400
            $0.lives.clientCredentials = 0
        }) { bench in
            let session = bench.session()
            try await session.ready()
            bench.time.pass(41 * 86_400)
            bench.lab.advanceClock(by: .seconds(41 * 86_400))
            bench.lab.inject(Fault(.status(503), at: .renewal))
            bench.lab.resetCounts()
            // The pauses grow at first.
            for attempts in 1...6 {
                for _ in 0..<2 {
                    let ofCall = await failure { _ = try await session.call(method: "GET", path: "/lab/hello") }
                    let ofToken = await failure { _ = try await session.accessToken() }
                    for error in [ofCall, ofToken] {
                        guard case .unexpectedAnswer(.renewCertificate, status: 503, _) = error else {
                            Issue.record("the caller got \(String(describing: error))")
                            continue
                        }
                    }
                }
                #expect(bench.count(.renewal) == attempts)
                bench.time.pass(300)
            }
            // A person does not wait.
            _ = await failure { _ = try await session.accessToken() }
            bench.lab.clearFaults()
            try await session.renew()
            #expect(bench.count(.renewal) == 8)
            #expect(try await session.call(method: "GET", path: "/lab/hello").status == 200)
        }
    }

    @Test("a certificate that has ended by the gateway's clock alone is asked for once in five minutes, too")
    func endedAtGateway() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            bench.lab.inject(Fault(.error(code: 3_003_206, status: 401), at: .hello))
            bench.lab.inject(Fault(.status(503), at: .renewal))
            bench.lab.resetCounts()
            for attempts in 1...6 {
                for _ in 0..<3 {
                    let error = await failure { _ = try await session.call(method: "GET", path: "/lab/hello") }
                    guard case .unexpectedAnswer(.renewCertificate, status: 503, _) = error else {
                        Issue.record("the caller got \(String(describing: error))")
                        continue
                    }
                }
                #expect(bench.count(.renewal) == attempts)
                bench.time.pass(300)
            }
            bench.lab.clearFaults()
            bench.lab.inject(Fault(.error(code: 3_003_206, status: 401), at: .hello, times: 1))
            #expect(try await session.call(method: "GET", path: "/lab/hello").status == 200)
            #expect(bench.count(.renewal) == 7)
        }
    }

    @Test(
        "an ended certificate is asked for at once when the network has changed, if the gateway had not answered",
        arguments: [(Fault.Kind.drop, 2), (.status(503), 1)])
    func endedWithoutNetwork(fault: Fault.Kind, attempts: Int) async throws {
        try await withBench({
            $0.lives.deviceCertificate = 40 * 86_400
            $0.lives.clientCredentials = 0
        }) { bench in
            let session = bench.session()
            try await session.ready()
            bench.time.pass(41 * 86_400)
            bench.lab.advanceClock(by: .seconds(41 * 86_400))
            let log = EventLog(session.events)
            bench.lab.inject(Fault(fault, at: .renewal))
            for _ in 0..<2 {
                _ = await failure { _ = try await session.accessToken() }
                session.networkDidChange()
            }
            #expect(await log.names().count { $0 == "device-will-renew" } == attempts)
        }
    }

    @Test("a clock beyond the certificate's end costs the gateway one certificate, and nothing once it is right")
    func endedByWrongClock() async throws {
        try await withBench({
            $0.lives.deviceCertificate = 40 * 86_400
            $0.lives.clientCredentials = 0
        }) { bench in
            let session = bench.session()
            try await session.ready()
            let old = try await serial(session)
            bench.lab.resetCounts()
            bench.time.set(by: 41 * 86_400)
            for _ in 0..<3 { #expect(try await session.call(method: "GET", path: "/lab/hello").status == 200) }
            #expect(bench.count(.renewal) == 1)
            bench.time.set(by: -41 * 86_400)
            #expect(try await session.call(method: "GET", path: "/lab/hello").status == 200)
            #expect(bench.count(.renewal) == 1)
            #expect(try await serial(session) == old)
        }
    }
}
