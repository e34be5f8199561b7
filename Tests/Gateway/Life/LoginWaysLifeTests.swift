import Cryptography
import Foundation
import GatewayLab
import Groundwork
import HTTPClient
import OAuth
import Testing

@testable import Gateway

@Suite("Sessions with other logins, or logins on demand", .serialized, .timeLimit(.minutes(5)))
struct LoginWaysLifeTests {
    private func demanding(
        _ bench: Bench, flow: Principal = .user, _ demand: @escaping UserDemand
    ) -> GatewaySession {
        GatewaySession(
            configuration: bench.configuration, vault: bench.vault, client: bench.client,
            board: DeviceDescription(name: "bench", model: "Test Board"), flow: flow, userDemand: demand,
            clock: bench.time.clock, uptime: bench.time.uptime)
    }

    @Test("a call waits for a login where somebody can be asked, and is then the user's")
    func onDemand() async throws {
        try await withBench { bench in
            let session = demanding(bench) { session, name in
                #expect(name == nil)
                try await session.logIn("alice")
            }
            let log = EventLog(session.events)
            let response = try await session.call(method: "GET", path: "/lab/hello")
            #expect(try JSON(parsing: response.body)["user"] == "alice")
            #expect(await log.names().first == "user-authentication-required")
            // Whoever names another, or a login that is over, is not made to wait.
            #expect(try await session.greeted(as: .board) == nil)
            try await session.logOut()
            #expect(await failure { try await session.userInfo(loggedInAt: .distantPast) } == .userRequired)
            #expect(try await session.user() == nil)
        }
    }

    @Test("work that began for one user is not done for another who answers the demand")
    func anotherUser() async throws {
        try await withBench { bench in
            let session = demanding(bench) { session, name in
                #expect(name == "alice")
                try await session.logIn("bob")
            }
            try await session.logIn("alice")
            let magIdentifier = try #require(await bench.lab.devices().first).magIdentifier
            try await bench.lab.revokeTokens(of: magIdentifier)
            try await bench.lab.revokeSessions(of: magIdentifier)
            bench.lab.resetCounts()
            #expect(await failure { try await session.call(method: "GET", path: "/lab/hello") } == .userRequired)
            #expect(try await session.user()?.userName == "bob")
            #expect(bench.count(.hello) == 1, "the one with alice's token")
        }
    }

    @Test("a call whose demand for a login nobody meets ends with the demand's error")
    func unmet() async throws {
        try await withBench { bench in
            let session = demanding(bench) { _, _ in throw GatewayError.idTokenExpired }
            #expect(await failure { try await session.call(method: "GET", path: "/lab/hello") } == .idTokenExpired)
        }
    }

    @Test(
        "logout ends the session of every program of the device, or only that of this client (MAG 5.9)",
        arguments: [true, false])
    func logOut(allPrograms: Bool) async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.logIn("alice")
            // From now on the first client's tokens are those of another program of the device.
            try await session.operations.recover(
                .reinitializeClient, of: .user, since: session.store.state().revision)
            #expect(try await session.greeted(as: .user) == "alice")
            try await session.logOut(allPrograms: allPrograms)
            #expect(try await session.user() == nil)
            #expect(await bench.lab.loggedIn().values.joined().contains("alice") == !allPrograms)
        }
    }

    @Test("the session's state is the gateway's word, asked for with the id_token (MAG 5.9, E11)")
    func sessionStatus() async throws {
        try await withBench { bench in
            let session = bench.session()
            #expect(await failure { try await session.sessionStatus() } == .userRequired)
            try await session.logIn("alice")
            #expect(try await session.sessionStatus() == "active")
            let magIdentifier = try #require(await bench.lab.devices().first).magIdentifier
            try await bench.lab.revokeSessions(of: magIdentifier)
            #expect(try await session.sessionStatus() == "none")
            #expect(try await session.user() != nil, "nothing is dropped for it")
            bench.lab.inject(Fault(.error(code: 3_007_103, status: 400), at: .sessionStatus))
            #expect(await failure { try await session.sessionStatus() }?.code == "gateway.parameters-invalid")
        }
    }

    @Test("a gateway without single sign-on has no session to ask for")
    func noSession() async throws {
        try await withBench { bench in
            let session = bench.session(try bench.configuration { $0.set("mag.mobile_sdk.sso_enabled", to: false) })
            try await session.logIn("alice")
            #expect(try await session.sessionStatus() == "none" && bench.count(.sessionStatus) == 0)
        }
    }

    @Test("what the gateway says about a user is kept with the login, and what it does not say stays (MAG 5.7)")
    func profile() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.logIn("alice")
            let profile = try #require(try await bench.session().userProfile())
            #expect(profile.attributes["emails"] == ["alice@lab.test"] && profile.attributes["userName"] == "alice")
            #expect(profile.attributes["photos"] == nil && profile.attributes["groups"] == nil)
            let log = EventLog(session.events)
            bench.lab.inject(Fault(.status(503), at: .userinfo))
            #expect(await failure { try await session.userInfo() } != nil)
            #expect(
                await log.names() == ["user-will-update-information", "user-did-fail-to-update-information"])
            #expect(try await session.userProfile()?.claims == profile.claims)
            try await session.logIn("bob")
            #expect(try await session.userProfile() == nil, "alice's is not bob's")
        }
    }

    @Test("claims about a user are kept up to a limit")
    func profileLimit() {
        let long: JSON = ["name": .string(String(repeating: "a", count: UserProfile.limit))]
        #expect(UserProfile(long, updatedAt: .now) == nil && UserProfile([], updatedAt: .now) == nil)
        #expect(UserProfile(["groups": ["a", "b"]], updatedAt: .now)?.attributes == ["groups": ["a", "b"]])
    }

    @Test(
        "a JWT from outside registers a board, or logs in beside the board's own session (MAG 4.3, 5.1)")
    func assertion() async throws {
        try await withBench { bench in
            let session = bench.session()
            let token = try await bench.lab.mintToken(for: "bob")
            #expect(try await session.logIn(with: try UserAssertion(token)).userName == "bob")
            #expect(bench.count(.registration) == 1)
            #expect(await bench.lab.devices().map(\.user) == ["bob"])
            let own = try await session.accessToken()
            let user = try await session.logIn(with: try UserAssertion(try await bench.lab.mintToken(for: "alice")))
            #expect(user.userName == "alice" && user.hasIDToken)
            #expect(try await session.accessToken().value == own.value)
            let refused = await failure { try await session.logIn(with: try UserAssertion("a.b.c")) }
            #expect(refused?.code == "gateway.grant-invalid")
            #expect(try await session.user()?.userName == "alice")
        }
    }
}
