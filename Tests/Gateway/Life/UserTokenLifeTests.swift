import Cryptography
import Foundation
import GatewayLab
import OAuth
import Testing

@testable import Gateway

@Suite("The tokens of a person at the lab gateway", .serialized, .timeLimit(.minutes(5)))
struct UserTokenLifeTests {
    @Test("a user's token comes by refresh token, then id_token, never the board's credentials (MAG checklist 20)")
    func order() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            try await session.logIn("alice")
            let log = EventLog(session.events)
            bench.time.pass(3601)
            #expect(try await session.greeted(as: .user) == "alice")
            try await bench.lab.revokeRefreshTokens()
            bench.time.pass(3601)
            #expect(try await session.greeted(as: .user) == "alice")
            let grants = await log.all().compactMap { event in
                if case .userTokenDidArrive(let grant, _) = event { grant } else { nil }
            }
            #expect(grants == ["refresh_token", "id_token"])
        }
    }

    @Test("a user's dead tokens are replaced once for all callers, not the board's (…990, MAG checklist 24)")
    func expired() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            try await session.logIn("alice")
            bench.lab.inject(Fault(.error(code: 3_007_990, status: 401), at: .hello, times: 1))
            bench.lab.resetCounts()
            #expect(try await session.greeted(as: .user) == "alice")
            #expect(bench.lab.requestCounts == [.hello: 2, .token: 1])
            #expect(try await session.greeted(as: .board) == nil)
            #expect(bench.count(.token) == 1)
            try await bench.lab.revokeTokens()
            bench.lab.resetCounts()
            try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<10 { group.addTask { try await session.greeted(as: .user) } }
                for try await name in group { #expect(name == "alice") }
            }
            // The refresh token was revoked with the access tokens, then the id_token gave another.
            #expect(bench.count(.token) == 2)
        }
    }

    @Test("a user's tokens reach every caller, although another's refusal drops the token at that moment")
    func dropped() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            try await session.logIn("alice")
            let date = try #require(try await session.user()?.loggedInAt)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await repeated { _ = try await session.accessToken(of: .user, scope: nil) }
                }
                group.addTask {
                    try await repeated { _ = try await session.accessToken(ofUserLoggedInAt: date) }
                }
                for _ in 1...8 {
                    #expect(try await session.greeted(as: .user) == "alice")
                    let revision = try await session.store.state().revision
                    try await session.operations.recover(.dropAccessToken, of: .user, since: revision)
                }
                group.cancelAll()
                try await group.waitForAll()
            }
        }
    }

    /// Does it until the task is canceled.
    private func repeated(_ work: () async throws -> Void) async throws {
        while !Task.isCancelled {
            do { try await work() } catch is CancellationError {}
        }
    }

    @Test("a user's tokens that the gateway takes no more end the log-in, reported once; the board goes on")
    func ended() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            try await session.logIn("alice")
            let log = EventLog(session.events)
            bench.time.pass(3601)
            bench.lab.inject(Fault(.error(code: 3_003_113, status: 400), at: .token, times: 2))
            #expect(await failure { try await session.greeted(as: .user) } == .userRequired)
            #expect(try await session.user() == nil)
            #expect(try await bench.records().allSatisfy { !$0.hasPrefix("user") })
            #expect(try await session.greeted(as: .board) == nil)
            #expect(
                await log.names().filter { $0.hasPrefix("user") } == [
                    "user-did-logout", "user-authentication-required",
                ])
        }
    }

    @Test(
        "a user's tokens do not end by a gateway's fault or a missing answer (MAG 5.3, MAG checklist 27)",
        arguments: [
            Fault.Kind.error(code: 3_003_000, status: 500), .error(code: 3_003_135, status: 400), .status(502), .drop,
            .captivePortal,
        ])
    func spared(kind: Fault.Kind) async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.logIn("alice")
            bench.time.pass(3601)
            bench.lab.inject(Fault(kind, at: .token))
            #expect(await failure { try await session.greeted(as: .user) } != nil)
            #expect(try await session.user()?.hasIDToken == true)
            bench.lab.clearFaults()
            #expect(try await session.greeted(as: .user) == "alice")
        }
    }

    @Test("a user's tokens go with forgotten credentials, and the id_token gives new ones (…201, MAG 12.4)")
    func clientForgotten() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.logIn("alice")
            bench.lab.inject(Fault(.error(code: 1_002_201, status: 401), at: .hello, times: 1))
            bench.lab.resetCounts()
            #expect(try await session.greeted(as: .user) == "alice")
            #expect(bench.lab.requestCounts == [.hello: 2, .clientInitialization: 1, .token: 1])
        }
    }

    @Test("a user's tokens go with another master client id; the id_token stays (MAG checklist 7, MAG 12.4)")
    func masterChange() async throws {
        let second = MasterClient(clientID: "second-master")
        try await withBench({ $0.masterClients.append(second) }) { bench in
            try await bench.session().logIn("alice")
            let changed = bench.session(
                try GatewayConfiguration(
                    parsing: try await bench.lab.configurationDocument(for: second.clientID)))
            let user = try #require(try await changed.user())
            #expect(user.userName == "alice" && user.hasIDToken && user.token == nil)
            #expect(try await changed.status().client == nil)
            #expect(try await changed.store.holdings().user?.tokens.refresh == nil)
        }
    }

    @Test(
        "a user's tokens go with the registration: removed, reset or not renewed (MAG 12.4)",
        arguments: ["removed", "reset", "not renewed"])
    func registrationEnds(how: String) async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.logIn("alice")
            let log = EventLog(session.events)
            switch how {
            case "removed": try await session.deregister()
            case "reset": try await session.reset()
            default:
                bench.lab.inject(Fault(.error(code: 1_000_101, status: 400), at: .renewal, times: 1))
                #expect(await failure { try await session.renew() } != nil)
            }
            #expect(try await session.user() == nil)
            #expect(
                try await bench.records().isSubset(of: ["registration-rest"]))
            #expect(await failure { try await session.greeted(as: .user) } == .userRequired)
            #expect(await log.names().contains("user-did-logout"))
        }
    }

    @Test("a user's tokens are not requested when nobody is logged in")
    func nobody() async throws {
        try await withBench { bench in
            let session = bench.session()
            #expect(await failure { try await session.greeted(as: .user) } == .userRequired)
            #expect(await failure { try await session.userInfo() } == .userRequired)
            #expect(await failure { try await session.logOut() } == .userRequired)
            #expect(bench.lab.connections == 0)
            #expect(GatewayError.userRequired.localCode == 120_005)
        }
    }

    // MARK: Log-out

    @Test("a user's tokens end at the gateway by E10, with no one else's (MAG 5.9, 12.4, MAG checklist 43)")
    func logOut() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            let (token, records) = (try await session.accessToken(), try await bench.records())
            try await session.logIn("alice")
            #expect(
                try await bench.records().subtracting(records) == ["user-log-in"])
            let user = try await bench.session().store.holdings().user?.tokens
            #expect(user?.access != nil && user?.refresh != nil && user?.id != nil)
            bench.lab.resetCounts()
            let log = EventLog(session.events)
            try await session.logOut()
            #expect(bench.lab.requestCounts == [.logout: 1])
            #expect(try await bench.records() == records)
            let status = try await session.status()
            #expect(status.user == nil && status.registration == .registered && status.client != nil)
            #expect(try await session.accessToken().value == token.value)
            // The gateway has revoked all tokens of the device; the board's is replaced as any that died there.
            #expect(try await session.greeted(as: .board) == nil)
            #expect(await log.names().prefix(2) == ["user-will-logout", "user-did-logout"])
        }
    }

    @Test(
        "a user's tokens stay when log-out fails, unless forced, and the failure is reported (MAG 5.9, 12.4)",
        arguments: [
            Fault.Kind.error(code: 3_006_000, status: 500), .status(502), .drop, .captivePortal,
        ])
    func logOutFails(kind: Fault.Kind) async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.logIn("alice")
            bench.lab.inject(Fault(kind, at: .logout))
            let log = EventLog(session.events)
            #expect(await failure { try await session.logOut() } != nil)
            #expect(try await session.greeted(as: .user) == "alice")
            #expect(await failure { try await session.logOut(force: true) } != nil)
            #expect(try await session.user() == nil)
            #expect(
                await log.names() == [
                    "user-will-logout", "user-did-fail-to-logout", "user-will-logout", "user-did-logout",
                    "user-did-fail-to-logout",
                ])
        }
    }

    @Test("a user's tokens end by E9 where there is no id_token (MAG 5.9)")
    func logOutByRevocation() async throws {
        try await withBench { bench in
            let session = bench.session(try bench.configuration { $0.set("mag.mobile_sdk.sso_enabled", to: false) })
            try await session.ready()
            let token = try await session.accessToken()
            try await session.logIn("alice")
            bench.lab.resetCounts()
            try await session.logOut()
            #expect(bench.lab.requestCounts == [.revocation: 1])
            #expect(await bench.lab.accessTokens().map(\.value) == [token.value.exposedText()])
            #expect(try await session.user() == nil)
        }
    }
}
