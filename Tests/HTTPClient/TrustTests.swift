import Cryptography
import Groundwork
import HTTPClient
import TestSupport
import Testing

@Suite("The trust of a request", .timeLimit(.minutes(5)))
struct TrustTests {
    private let client = HTTPClient()
    private let authority: TestAuthority

    init() throws { authority = try TestAuthority() }

    private func request(_ server: TestServer, _ trust: ServerTrust, identity: TLSIdentity? = nil) -> HTTPRequest {
        HTTPRequest("GET", server.https("/echo?token=secret"), trust: trust, identity: identity)
    }

    private func anchored(
        _ authority: TestAuthority? = nil, host: String = "localhost", pins: [PublicKeyPin] = []
    ) -> ServerTrust {
        ServerTrust(host: host, anchors: [(authority ?? self.authority).certificate], pins: pins)
    }

    @Test("the trust of a request is satisfied by an anchor, by a pin of any chain element, or by both (MAG 1.4)")
    func satisfied() async throws {
        let identity = try authority.localhost()
        let server = try await TestServer(identity)
        let authorityPin = PublicKeyPin(of: authority.certificate.publicKey)
        for trust in [
            anchored(), ServerTrust(host: "localhost", pins: [identity.leafPin]), anchored(pins: [identity.leafPin]),
            anchored(pins: [authorityPin]),
        ] {
            #expect(try await client.send(request(server, trust)).status == 200)
        }
    }

    @Test("the trust of a request is not satisfied by another key, another authority or another name")
    func refused() async throws {
        let identity = try authority.localhost()
        let server = try await TestServer(identity)
        let strangers = try TestAuthority("Stranger")
        let stranger = try strangers.localhost().leafPin
        for trust in [ServerTrust(host: "localhost", pins: [stranger]), anchored(pins: [stranger])] {
            await #expect(throws: HTTPError.tls(host: "localhost", refusal: .pinMismatch)) {
                try await client.send(request(server, trust))
            }
        }
        await #expect(throws: HTTPError.tls(host: "localhost", refusal: .hostMismatch(host: "other.test"))) {
            try await client.send(request(server, anchored(host: "other.test")))
        }
        for trust in [anchored(strangers), ServerTrust(host: "localhost")] {
            let error = await #expect(throws: HTTPError.self) { try await client.send(request(server, trust)) }
            #expect(error?.code == "http.server-not-trusted")
            #expect(error?.message.contains("secret") == false)
        }
    }

    @Test("the trust of a request is not satisfied by an expired certificate")
    func expired() async throws {
        let server = try await TestServer(authority.identity("localhost", dnsNames: ["localhost"], until: -60))
        let error = await #expect(throws: HTTPError.self) { try await client.send(request(server, anchored())) }
        guard case .tls("localhost", .expired) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("the trust of a request never lets another request use its connection")
    func isolation() async throws {
        let identity = try authority.localhost()
        let server = try await TestServer(identity)
        let good = request(server, anchored(pins: [identity.leafPin]))
        #expect(try await client.send(good).echo().connection == 1)
        #expect(try await client.send(good).echo().connection == 1)
        let wrongPin = anchored(pins: [try authority.localhost().leafPin])
        await #expect(throws: HTTPError.tls(host: "localhost", refusal: .pinMismatch)) {
            try await client.send(request(server, wrongPin))
        }
        let wrongAnchor = anchored(try TestAuthority("Stranger"))
        await #expect(throws: HTTPError.self) { try await client.send(request(server, wrongAnchor)) }
        await #expect(throws: HTTPError.self) { try await client.send(request(server, ServerTrust(host: "localhost"))) }
        #expect(try await client.send(good).echo().connection == 1)
    }

    @Test("the trust of a request gives the server no longer than its budget for the handshake")
    func handshakeBudget() async throws {
        let server = try await TestServer(["--mute"])
        var request = request(server, anchored())
        // Includes the connection itself, which a busy machine takes its time for.
        request.handshakeTimeout = .seconds(5)
        await #expect(throws: HTTPError.handshakeTimeout(host: "localhost")) { try await client.send(request) }
        #expect(try await server.said("left") == "left")
    }

    @Test("the trust of a request is given up for a server that does not speak TLS")
    func noTLS() async throws {
        let server = try await TestServer()
        let error = await #expect(throws: HTTPError.self) { try await client.send(request(server, anchored())) }
        #expect(error?.code == "http.handshake-failed")
    }
}

@Suite("The identity of a request", .timeLimit(.minutes(5)))
struct IdentityTests {
    private let client = HTTPClient()
    private let authority: TestAuthority
    private let board: TLSIdentity

    init() throws {
        authority = try TestAuthority()
        board = try authority.identity("board", usage: .client)
    }

    private func request(_ server: TestServer, identity: TLSIdentity? = nil) -> HTTPRequest {
        let trust = ServerTrust(host: "localhost", anchors: [authority.certificate])
        return HTTPRequest("GET", server.https("/echo"), trust: trust, identity: identity)
    }

    @Test("the identity of a request is what the server sees")
    func seen() async throws {
        let server = try await TestServer(authority.localhost(), clients: .required, trusting: authority)
        #expect(try await client.send(request(server, identity: board)).echo().certificate == "board")
    }

    @Test("the identity of a request is never lent, over a kept connection, to one without or with another")
    func isolation() async throws {
        let server = try await TestServer(authority.localhost(), clients: .asked, trusting: authority)
        let other = try authority.identity("other", usage: .client)
        var seen: [String?] = []
        for identity in [board, nil, other, board, nil] {
            seen.append(try await client.send(request(server, identity: identity)).echo().certificate)
        }
        #expect(seen == ["board", nil, "other", "board", nil])
        #expect(try await client.send(request(server)).echo().connection == 2)
    }

    @Test("the identity of a request is reported as refused when the server rejects or misses it")
    func refused() async throws {
        let server = try await TestServer(authority.localhost(), clients: .required, trusting: authority)
        await #expect(throws: HTTPError.clientCertificateRefused(host: "localhost", alert: 116)) {
            try await client.send(request(server))
        }
        let stranger = try TestAuthority("Stranger").identity("stranger", usage: .client)
        await #expect(throws: HTTPError.clientCertificateRefused(host: "localhost", alert: 48)) {
            try await client.send(request(server, identity: stranger))
        }
        let expired = try authority.identity("board", usage: .client, until: -60)
        await #expect(throws: HTTPError.clientCertificateRefused(host: "localhost", alert: 45)) {
            try await client.send(request(server, identity: expired))
        }
    }

    @Test("the identity of a request comes from the first challenge filter with one, unless it has its own")
    func challenge() async throws {
        struct Offer: ChallengeFilter {
            let identity: TLSIdentity?
            func identity(for host: String) async throws -> TLSIdentity? { host == "localhost" ? identity : nil }
        }
        let server = try await TestServer(authority.localhost(), clients: .asked, trusting: authority)
        let other = try authority.identity("other", usage: .client)
        let chain = FilterChain(
            client: client, challengeFilters: [Offer(identity: nil), Offer(identity: board), Offer(identity: other)])
        #expect(try await chain.send(request(server)).echo().certificate == "board")
        #expect(try await chain.send(request(server, identity: other)).echo().certificate == "other")
    }
}
