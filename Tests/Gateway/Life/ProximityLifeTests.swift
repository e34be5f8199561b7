import Cryptography
import Foundation
import GatewayLab
import Groundwork
import OAuth
import Testing

@testable import Gateway

@Suite("Log-in by another device at the lab gateway", .serialized, .timeLimit(.minutes(5)))
struct ProximityLifeTests {
    @Test(
        "a user of one board is let in on another, registered or not (MAG 5.6, 7.3, MAG checklist 33)",
        arguments: [true, false])
    func whole(isRegistered: Bool) async throws {
        try await withBench { bench in
            let sharing = bench.session()
            try await sharing.logIn("alice")
            try await withSecondBoard(at: bench) { other in
                let session = other.session()
                if isRegistered { try await session.ready() }
                let authorization = try await session.authorizationSession()
                #expect(authorization.providers.map(\.id).contains("enterprise"))
                guard case .pending = try await session.poll(authorization) else {
                    Issue.record("nobody has authorized")
                    return
                }
                try await sharing.authorize(providerURL: try authorization.providerURL)
                let code = try await session.code(of: authorization)
                bench.lab.resetCounts()
                let user = try await session.logIn(with: code, of: authorization)
                #expect(user.userName == "alice" && user.hasIDToken)
                #expect(bench.count(.registration) == (isRegistered ? 0 : 1) && bench.count(.token) == 1)
                #expect(try await session.greeted(as: .user) == "alice")
                #expect(try await session.greeted(as: .board) == nil)
                #expect(
                    await failure { try await session.logIn(with: code, of: authorization) }?.code
                        == "gateway.grant-invalid")
                #expect(try await session.greeted(as: .user) == "alice", "who is logged in stays so")
            }
        }
    }

    @Test("a log-in without single sign-on takes one code for the registration and another for the token")
    func withoutSingleSignOn() async throws {
        try await withBench { bench in
            let sharing = bench.session()
            try await sharing.logIn("alice")
            try await withSecondBoard(at: bench) { other in
                let session = other.session(try bench.configuration { $0.set("mag.mobile_sdk.sso_enabled", to: false) })
                let registering = try await session.authorizationSession()
                try await sharing.authorize(providerURL: try registering.providerURL)
                let code = try await session.code(of: registering)
                #expect(
                    await failure { try await session.logIn(with: code, of: registering) } == .codeUsedForRegistration)
                #expect(await bench.lab.devices().map(\.user) == ["alice", "alice"])
                #expect(try await session.user() == nil)

                let authorization = try await session.authorizationSession()
                try await sharing.authorize(providerURL: try authorization.providerURL)
                let user = try await session.logIn(with: try await session.code(of: authorization), of: authorization)
                #expect(user.userName == "alice" && !user.hasIDToken)
                #expect(bench.count(.clientRegistration) == 0)
            }
        }
    }

    @Test("a log-in by another device takes only its own code, and refuses others unsent (MAG checklist 33)")
    func otherState() async throws {
        try await withBench { bench in
            let sharing = bench.session()
            try await sharing.logIn("alice")
            let (mine, foreign) = (try await sharing.authorizationSession(), try await sharing.authorizationSession())
            try await sharing.authorize(providerURL: try foreign.providerURL)
            let code = try await sharing.code(of: foreign)
            bench.lab.resetCounts()
            #expect(await failure { try await sharing.logIn(with: code, of: mine) } == .authorizationStateMismatch)
            #expect(bench.lab.requestCounts.isEmpty)
            // What a gateway or somebody in between would have to do to slip a code in.
            let mixed = AuthorizationSession(
                idp: mine.idp, providers: foreign.providers, proof: mine.proof, clientID: mine.clientID)
            #expect(await failure { try await sharing.poll(mixed) } == .authorizationStateMismatch)
        }
    }

    @Test("a log-in that nobody authorized in time is over, and an error instead of pending (MAG 7.3)")
    func over() async throws {
        try await withBench { bench in
            let session = bench.session()
            let authorization = try await session.authorizationSession()
            bench.lab.advanceClock(by: .seconds(121))
            let error = await failure { try await session.poll(authorization) }
            #expect(error?.code == "gateway.authorization-ended")
            try await session.logIn("alice")
            let url = try authorization.providerURL
            #expect(
                await failure { try await session.authorize(providerURL: url) }?.code == "gateway.authorization-ended")
        }
    }

    @Test(
        "a log-in by another device is not pending because a login page of a hotel answers, or a proxy",
        arguments: [
            Fault.Kind.captivePortal, .status(502), .drop,
        ])
    func strangers(kind: Fault.Kind) async throws {
        try await withBench { bench in
            let session = bench.session()
            let authorization = try await session.authorizationSession()
            bench.lab.inject(Fault(kind, at: .poll))
            #expect(await failure { try await session.poll(authorization) } != nil)
            bench.lab.clearFaults()
            guard case .pending = try await session.poll(authorization) else {
                Issue.record("the session was lost")
                return
            }
        }
    }

    @Test("a log-in by another device has client credentials had anew when the gateway forgot them (3000201)")
    func clientForgotten() async throws {
        try await withBench { bench in
            let session = bench.session()
            _ = try await session.authorizationSession()
            try await bench.lab.forgetClientCredentials()
            bench.lab.resetCounts()
            _ = try await session.authorizationSession()
            #expect(bench.lab.requestCounts == [.authorization: 2, .clientInitialization: 1])
            bench.lab.inject(Fault(.error(code: 3_000_201, status: 401), at: .authorization))
            #expect(await failure { try await session.authorizationSession() }?.localCode == 110_002)
            #expect(bench.count(.authorization) == 6, "four attempts in all")
        }
    }

    @Test("a log-in by another device registers a board that waits for a person once somebody comes in")
    func resting() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            try await session.deregister()
            bench.lab.resetCounts()
            _ = try await session.authorizationSession()
            #expect(bench.lab.requestCounts == [.clientInitialization: 1, .authorization: 1])
            #expect(await failure { try await session.ready() } == .notRegistered)
        }
    }

    @Test(
        "a log-in by another device is forgotten with its client credentials, and nothing is sent (MAG 12.4)",
        arguments: [true, false])
    func forgotten(byReset: Bool) async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            let authorization = try await session.authorizationSession()
            let code = AuthorizationCode(code: SecretBytes(utf8: "c-1"), state: authorization.proof.state)
            if byReset { try await session.reset() } else { try await session.deregister() }
            bench.lab.resetCounts()
            #expect(await failure { try await session.poll(authorization) } == .authorizationEnded)
            #expect(await failure { try await session.logIn(with: code, of: authorization) } == .authorizationEnded)
            #expect(bench.lab.requestCounts.isEmpty)
        }
    }

    // MARK: The other side

    @Test("only waiting log-ins of the gateway's origin are authorized, whatever it has (MAG checklist 36)")
    func origin() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.logIn("alice")
            let own = try await session.authorizationSession().providerURL
            _ = try await session.sessionIdentifier(in: own)
            bench.lab.resetCounts()
            let gateway = bench.configuration.identity
            for url in ["https://evil.test:\(gateway.port)/auth/x", "http://\(gateway.host):\(gateway.port)/auth/x"] {
                #expect(
                    await failure { try await session.authorize(providerURL: url) }
                        == .providerURLForeign(gateway: gateway))
            }
            let id = String(own.split(separator: "/").last ?? "")
            for path in [
                "/lab/echo?transfer=1000&to=mallory", "/lab/hello", "/connect/session/logout",
                "/connect/session/logout;x",
                "/Connect/Session/Logout", "/SCIM/MAS/v2/Users", "/connect/device/metadata/x?a", "/auth/../lab/echo",
                "/auth/device/authorization/\(id)/poll", "/auth/device/authorization/\(id)?again=1",
                "/auth/device/authorization/\(id);x", "/auth/device/Authorization/\(id)",
                "/auth/device/authorization/short",
                "/lab/\(id)", "/auth/device/\(id)",
            ] {
                let error = await failure { try await session.authorize(providerURL: gateway.baseURL + path) }
                #expect(error?.code == "gateway.provider-url-invalid" && error?.localCode == 650_102, "\(path)")
                #expect(await failure { try await session.sessionIdentifier(in: gateway.baseURL + path) } == error)
            }
            #expect(bench.lab.requestCounts.isEmpty)
            #expect(try await session.sessionIdentifier(in: own) == id)
        }
    }

    @Test("the form of the gateway's log-ins is learned once, and again at most hourly when a URL does not fit")
    func learnsForm() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.logIn("alice")
            try await withSecondBoard(at: bench) { other in
                let url = try await other.session().authorizationSession().providerURL
                let foreign = bench.configuration.identity.baseURL + "/lab/echo"
                bench.lab.resetCounts()
                for _ in 0..<3 {
                    #expect(
                        await failure { try await session.authorize(providerURL: foreign) }?.code
                            == "gateway.provider-url-invalid")
                }
                #expect(bench.count(.authorization) == 1)
                try await session.authorize(providerURL: url)
                bench.time.pass(3601)
                #expect(
                    await failure { try await session.authorize(providerURL: foreign) }?.code
                        == "gateway.provider-url-invalid")
                #expect(bench.count(.authorization) == 2)
            }
        }
    }

    @Test("a log-in is authorized in the name of the user who agreed, or not at all, also when repeated")
    func otherUser() async throws {
        try await withBench { bench in
            let session = bench.session()
            let alice = try await session.logIn("alice")
            try await withSecondBoard(at: bench) { other in
                let authorization = try await other.session().authorizationSession()
                let url = try authorization.providerURL
                _ = try await session.sessionIdentifier(in: url)
                bench.lab.resetCounts()
                // bob is about to log in; meanwhile alice's consent is carried out, and the gateway says that her token
                // has ended. A new one has to wait until bob is in.
                let delayed = bench.delayNext(.token, milliseconds: 3000)
                async let bob = session.logIn("bob")
                await delayed.value
                bench.lab.inject(Fault(.error(code: 1_003_990, status: 401), at: .deviceAuthorization, times: 1))
                #expect(
                    await failure { try await session.authorize(providerURL: url, loggedInAt: alice.loggedInAt) }
                        == .userRequired)
                #expect(try await bob.userName == "bob")
                #expect(bench.count(.deviceAuthorization) <= 1, "alice's attempt, which the gateway refused")
                #expect(await bench.lab.authorizations().allSatisfy { $0.user == nil })
                #expect(
                    await failure { try await session.authorize(providerURL: url, loggedInAt: alice.loggedInAt) }
                        == .userRequired)
                #expect(await failure { try await session.userInfo(loggedInAt: alice.loggedInAt) } == .userRequired)
                #expect(try await session.userInfo()["preferred_username"] == "bob")
            }
        }
    }

    @Test("a log-in is authorized in the name of a user, never of the board")
    func userOnly() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            let url = try await session.authorizationSession().providerURL
            bench.lab.resetCounts()
            #expect(await failure { try await session.authorize(providerURL: url) } == .userRequired)
            #expect(bench.lab.requestCounts.isEmpty)
        }
    }

    @Test("a log-in is authorized by POST, or GET where that is unknown, also with JSON around the URL (MAG 7.3)")
    func methods() async throws {
        try await withBench { bench async throws in
            let session = bench.session()
            try await session.logIn("alice")
            let authorization = try await session.authorizationSession()
            let url = try authorization.providerURL
            bench.lab.inject(Fault(.status(405), at: .deviceAuthorization, times: 1))
            bench.lab.resetCounts()
            try await session.authorize(providerURL: "{\"provider_url\":\"\(url)\",\"device_name\":\"tv\"}")
            #expect(bench.count(.deviceAuthorization) == 2)
            try await session.authorize(providerURL: url)
            #expect(bench.count(.deviceAuthorization) == 3)
            #expect(try await session.code(of: authorization).value.count > 0)
        }
    }
}
