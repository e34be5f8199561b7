import Cryptography
import Foundation
import GatewayLab
import Groundwork
import OAuth
import Testing
import Vault

@testable import Gateway

@Suite("A person who logs in at the lab gateway", .serialized, .timeLimit(.minutes(5)))
struct UserLifeTests {
    @Test("a login registers a board by E4, and the id_token gives the first token (MAG 4.3, 4.4)")
    func registers() async throws {
        try await withBench { bench in
            let session = bench.session()
            let log = EventLog(session.events)
            let user = try await session.logIn("alice")
            #expect(bench.lab.requestCounts == [.clientInitialization: 1, .registration: 1, .token: 1, .userinfo: 1])
            #expect(user.userName == "alice" && user.hasIDToken && user.token?.hasRefreshToken == true)
            #expect(await bench.lab.devices().map(\.user) == ["alice"])
            #expect(try await session.status().user?.loggedInAt == user.loggedInAt)
            #expect(
                await log.names() == [
                    "user-will-authenticate", "client-will-initialize", "client-did-initialize", "device-will-register",
                    "device-did-register", "user-token-did-arrive", "user-will-update-information",
                    "user-did-update-information", "user-did-authenticate",
                ])
        }
    }

    @Test("a user is logged in beside the board, whose own token stays (MAG 5.1, 5.7)")
    func beside() async throws {
        try await withBench { bench async throws in
            let session = bench.session()
            let token = try await session.accessToken()
            bench.lab.resetCounts()
            try await session.logIn("alice")
            #expect(bench.lab.requestCounts == [.token: 1, .userinfo: 1])
            #expect(try await session.accessToken().value == token.value)
            #expect(try await session.greeted(as: .board) == nil)
            #expect(try await session.greeted(as: .user) == "alice")
            #expect(try await session.userInfo()["given_name"] == "Alice")
            #expect(await bench.lab.devices().map(\.user) == [nil])
        }
    }

    @Test("a board registered by a user's login gets its own token at the next need")
    func boardAfterwards() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.logIn("alice")
            #expect(try await session.status().token == nil)
            #expect(try await session.greeted(as: .board) == nil)
            #expect(bench.count(.clientRegistration) == 0)
        }
    }

    @Test("a user's login outlives a restart, without a call")
    func restart() async throws {
        try await withBench { bench in
            let user = try await bench.session().logIn("alice")
            bench.lab.resetCounts()
            let restarted = bench.session()
            let held = try #require(try await restarted.user())
            #expect(held.userName == "alice" && held.hasIDToken && held.token?.scope == user.token?.scope)
            #expect(bench.lab.requestCounts.isEmpty)
            #expect(try await restarted.greeted(as: .user) == "alice")
            #expect(bench.lab.requestCounts == [.hello: 1])
        }
    }

    @Test(
        "a login with a wrong password changes nothing, on a registered board or not (MAG checklist 25)",
        arguments: [true, false])
    func wrongPassword(isRegistered: Bool) async throws {
        try await withBench { bench in
            let session = bench.session()
            if isRegistered {
                try await session.ready()
                try await session.logIn("bob")
            }
            let before = try await session.user()
            bench.lab.resetCounts()
            let log = EventLog(session.events)
            let error = await failure {
                try await session.logIn(userName: "alice", password: SecretBytes(utf8: "bob-password"))
            }
            #expect(error?.code == "gateway.user-credentials-invalid" && error?.localCode == 130_002)
            #expect(bench.count(.registration) + bench.count(.token) == 1)
            #expect(try await session.user()?.loggedInAt == before?.loggedInAt)
            #expect(await bench.lab.devices().count == (isRegistered ? 1 : 0))
            #expect(await log.names().last == "user-did-fail-to-authenticate")
        }
    }

    @Test("a login replaces whoever is logged in, and two at once come one after the other")
    func replaced() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.logIn("alice")
            #expect(try await session.logIn("bob").userName == "bob")
            #expect(try await session.greeted(as: .user) == "bob")
            async let one = session.logIn("alice")
            async let other = session.logIn("bob")
            _ = try await (one, other)
            #expect(try await session.greeted(as: .user) == session.user()?.userName)
        }
    }

    @Test("a login after a removal registers again: the wish of a person ends the rest")
    func afterRemoval() async throws {
        try await withBench { bench in
            let session = bench.session()
            try await session.ready()
            try await session.deregister()
            #expect(
                await failure { try await session.logIn(userName: "alice", password: SecretBytes(utf8: "wrong")) }
                    != nil)
            #expect(await failure { try await session.ready() } == .notRegistered, "nobody has come in")
            try await session.logIn("alice")
            try await session.ready()
            #expect(try await !bench.records().contains("registration-rest"))
        }
    }

    @Test("a login while the device awaits activation says so, and works once it is active (MAG checklist 16)")
    func pending() async throws {
        try await withBench({ $0.activatesDevices = false }) { bench in
            let session = bench.session()
            let log = EventLog(session.events)
            guard case .awaitingActivation(let magIdentifier)? = await failure({ try await session.logIn("alice") })
            else {
                Issue.record("not told")
                return
            }
            #expect(try await session.user()?.userName == "alice")
            #expect(await failure { try await session.greeted(as: .user) }?.code == "gateway.awaiting-activation")
            try await bench.lab.activate(magIdentifier: magIdentifier)
            #expect(try await session.greeted(as: .user) == "alice")
            #expect(try await session.status().registration == .registered)
            let names = await log.names()
            #expect(names.contains("device-awaits-activation") && names.contains("user-did-authenticate"))
            #expect(names.contains("device-did-activate"))
        }
    }

    @Test("a user stays nameless or keeps the typed name where the gateway does not say (MAG quirk Q26)")
    func unnamed() async throws {
        try await withBench { bench async throws in
            let session = bench.session()
            bench.lab.inject(Fault(.status(500), at: .userinfo))
            #expect(try await session.logIn("alice").userName == "alice")
            #expect(await failure { try await session.userInfo() } != nil)
        }
    }

    @Test("a user gets no session from an id_token that does not hold, and the registration stands (MAG 5.5)")
    func falseIDToken() async throws {
        try await withBench { bench async throws in
            let session = bench.session()
            bench.time.set(by: 3 * 86_400)
            #expect(await failure { try await session.logIn("alice") } == .idTokenExpired)
            #expect(try await session.status().registration == .registered)
            #expect(try await session.user() == nil)
        }
    }

    @Test("a login without single sign-on registers the board and uses the same password (MAG 4.4)")
    func withoutSingleSignOn() async throws {
        try await withBench { bench in
            let session = bench.session(try bench.configuration { $0.set("mag.mobile_sdk.sso_enabled", to: false) })
            let user = try await session.logIn("alice")
            #expect(!user.hasIDToken && user.token?.hasRefreshToken == true)
            #expect(bench.count(.registration) == 1 && bench.count(.token) == 1)
            #expect(await bench.lab.devices().map(\.user) == ["alice"])
        }
    }

    @Test("a login leaves no secret in events, errors, states or descriptions")
    func secrecy() async throws {
        try await withBench { bench in
            let session = bench.session()
            let log = EventLog(session.events)
            let password = SecretBytes(utf8: "alice-password")
            var shown = ""
            try await session.logIn(userName: "alice", password: password)
            let authorization = try await session.authorizationSession()
            try await session.authorize(providerURL: try authorization.providerURL)
            let answer = try await session.poll(authorization)
            guard case .code(let code) = answer else { throw GatewayError.proximityNotOffered }
            dump(authorization, to: &shown)
            dump(answer, to: &shown)
            dump(try await session.status(), to: &shown)
            dump(try await session.user(), to: &shown)
            dump(try UserCredentials(name: "alice", password: password), to: &shown)
            let secrets =
                try await bench.secrets() + [
                    "alice-password", authorization.proof.verifier.exposedText(),
                    authorization.proof.state.exposedText(),
                    code.value.exposedText(), Base64.encode(Array("alice:alice-password".utf8)),
                ]
            for kind in [Fault.Kind.error(code: 3_003_202, status: 401), .captivePortal, .status(502), .drop] {
                for endpoint in [GatewayLab.Endpoint.token, .registration, .logout, .authorization, .poll] {
                    bench.lab.inject(Fault(kind, at: endpoint))
                }
                for error in [
                    await failure { try await session.logIn(userName: "alice", password: password) },
                    await failure { try await session.logIn(with: code, of: authorization) },
                    await failure { try await session.logOut() },
                    await failure { try await session.poll(authorization) },
                    await failure { try await session.authorizationSession() },
                ] {
                    let error = try #require(error)
                    shown += "\(error) \(error.message) \(error.remedy ?? "")\n"
                }
                bench.lab.clearFaults()
            }
            for event in await log.all() { shown += "\(event) \(String(reflecting: event))\n" }
            #expect(secrets.count > 8 && shown.count > 1000)
            for secret in secrets { #expect(!shown.contains(secret), "\(secret.prefix(4))… is shown") }
        }
    }
}

extension Bench {
    /// The secrets in the vault, as text.
    fileprivate func secrets() async throws -> [String] {
        var secrets: [String] = []
        for name in try await vault.names(scope: configuration.identity.scope) {
            guard KeyReference(name.name) == nil, let record = try await vault.record(name),
                [.token, .clientCredentials].contains(record.kind)
            else {
                continue
            }
            secrets += Self.secrets(in: try JSON(parsing: record.content.exposed()))
        }
        return secrets
    }

    private static func secrets(in document: JSON) -> [String] {
        (document.object ?? [:]).flatMap { name, value in
            ["value", "refresh", "secret"].contains(name) ? [value.string].compactMap(\.self) : secrets(in: value)
        }
    }
}
