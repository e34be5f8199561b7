import Cryptography
import Foundation
import GatewayLab
import Groundwork
import HTTPClient
import Testing

@testable import Gateway

@Suite("Enrollment at the lab gateway", .serialized, .timeLimit(.minutes(5)))
struct EnrollmentTests {
    @Test("enrollment fetches the configuration once, and a used URL is refused like a forged one")
    func once() async throws {
        try await withBench { bench in
            let url = try await bench.lab.mintEnrollmentURL()
            let configuration = try await Enrollment(url: url).fetch(using: bench.client)
            #expect(configuration == bench.configuration)

            let forged = url.replacingOccurrences(of: "sessionData=e", with: "sessionData=f")
            let ended = try await bench.lab.mintEnrollmentURL()
            bench.lab.advanceClock(by: .seconds(601))
            for text in [url, forged, ended] {
                let error = await failure { try await Enrollment(url: text).fetch(using: bench.client) }
                guard case .refused(let refusal)? = error else {
                    Issue.record("not refused: \(String(describing: error))")
                    continue
                }
                #expect(refusal.status == 400 && refusal.code == 132)
                #expect(error?.code == "gateway.enrollment-refused")
            }
        }
    }

    @Test("enrollment without subjectKeyHash is refused before any connection (MAG checklist 1)")
    func withoutHash() async throws {
        try await withBench { bench in
            let url = try #require(try await bench.lab.mintEnrollmentURL().split(separator: "&").first.map(String.init))
            #expect(
                await failure { try await Enrollment(url: url).fetch(using: bench.client) }
                    == .enrollmentURLWithoutKeyHash)
            #expect(bench.lab.connections == 0)
        }
    }

    @Test("enrollment aborts the handshake with another key's server and changes nothing (MAG checklist 2)")
    func wrongKey() async throws {
        try await withBench { bench in
            try await Gateways(vault: bench.vault).activate(bench.configuration)
            let url = try await bench.lab.mintEnrollmentURL()
            try await bench.lab.show(.otherKey)
            #expect(
                await failure { try await Enrollment(url: url).fetch(using: bench.client) }
                    == .enrollmentKeyMismatch(host: "localhost"))
            #expect(bench.count(.enrollment) == 0)
            #expect(try await Gateways(vault: bench.vault).active() == bench.configuration)
        }
    }

    @Test("enrollment checks the host name and the dates beside the key", arguments: [ServerFace.otherHost, .expired])
    func otherFaults(face: ServerFace) async throws {
        try await withBench { bench in
            let url = try await bench.lab.mintEnrollmentURL()
            try await bench.lab.show(face)
            let error = await failure { try await Enrollment(url: url).fetch(using: bench.client) }
            guard case .noAnswer(.fetchConfiguration, .tls)? = error else {
                Issue.record("not refused in TLS: \(String(describing: error))")
                return
            }
            #expect(bench.count(.enrollment) == 0)
        }
    }

    @Test(
        "enrollment takes nothing but a 200 with a configuration, and follows no redirect",
        arguments: [
            Fault.Kind.status(302), .status(503), .captivePortal,
        ])
    func otherAnswers(kind: Fault.Kind) async throws {
        try await withBench { bench in
            let url = try await bench.lab.mintEnrollmentURL()
            bench.lab.inject(Fault(kind, at: .enrollment))
            let error = await failure { try await Enrollment(url: url).fetch(using: bench.client) }
            #expect(["gateway.unexpected-answer", "gateway.configuration-unreadable"].contains(error?.code))
            #expect(bench.lab.requestCounts.values.reduce(0, +) == 1)
        }
    }

    @Test("enrollment sends the URL as given, pinned, without anything of ours (MAG checklist 3)")
    func request() throws {
        let hash = String(repeating: "ab", count: 32)
        let url = try EnrollmentURL("https://gw.lab.test/c?sessionData=x&subjectKeyHash=\(hash)")
        let request = Enrollment.request(url, nil)
        #expect(request.method == "GET" && request.url == url.text && request.body == nil && request.identity == nil)
        #expect(request.headers.pairs.map(\.name) == ["Accept"])
        let trust = try #require(request.trust)
        #expect(trust.pins == [url.pin] && trust.anchors.isEmpty && !trust.usesPublicAnchors && trust.checksHostName)
        // By address the key alone proves the server.
        let byAddress = Enrollment.request(try EnrollmentURL("https://192.0.2.1/c?subjectKeyHash=\(hash)"), nil)
        #expect(byAddress.trust?.checksHostName == false)
    }
}
