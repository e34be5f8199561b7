import Cryptography
import Groundwork
import Testing

@testable import MPin

/// Back ends whose answers have the right form and the wrong content.
extension HostileBackEndTests {
    @Test("back ends whose shares cancel out are a CRYPTO_ERROR, and change nothing (MPIN 2.7, MPIN checklist 6)")
    func infinity() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let point = try #require(VectorFiles.first("client_secret_share1"))
        let opposite = try G1Point(encoding: point).negated().encoding
        try await server.set([
            "patches": [
                "signature": ["clientSecretShare": .string(Hex.encode(point))],
                "clientSecret": ["clientSecret": .string(Hex.encode(opposite))],
                "timePermit": ["timePermit": .string(Hex.encode(point))],
                "timePermitTwo": ["timePermit": .string(Hex.encode(opposite))],
            ]
        ])
        let user = try await backend.confirmRegistration(backend.user(.activated, at: server))
        #expect(
            await status { _ = try await backend.finishRegistration(user, pin: MPinBackend.pin) } == .cryptoError)
        #expect(try await backend.user("alice").state == .activated)
        try await server.behave()
        let other = try await backend.user(.registered, named: "bob", at: server)
        try await server.set([
            "patches": [
                "timePermit": ["timePermit": .string(Hex.encode(point))],
                "timePermitTwo": ["timePermit": .string(Hex.encode(opposite))],
            ]
        ])
        #expect(await status { try await backend.startAuthentication(other) } == .cryptoError)
        try await server.behave()
        try await backend.logIn(other)
    }

    @Test("a back end that answers for another user is found out by the identity's hash (MPIN checklist 2)")
    func otherUser() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.activated, at: server)
        let hash = String(repeating: "ab", count: 32)
        for query in ["hash_mpin_id=\(hash)&mobile=1", "a=b&hash_mpin_id=", "hash_mpin_id=%61%62"] {
            try await server.patch("signature", ["params": .string(query)])
            #expect(await status { _ = try await backend.confirmRegistration(user) } == .cryptoError, "\(query)")
        }
        try await server.behave()
        let registered = try await backend.user(.registered, named: "bob", at: server)
        for (value, expected) in [(hash, MPinStatus.cryptoError), ("abcd", .cryptoError), ("zz", .responseParseError)] {
            try await server.patch("timePermit", ["storageId": .string(value)])
            #expect(await status { try await backend.startAuthentication(registered) } == expected)
        }
        // An identity that is issued for another name.
        for identity in [#"{"userID":"mallory"}"#, "{}", "text", #"{"userID":1}"#, ""] {
            try await server.patch("user", ["mpinId": .string(Hex.encode(Array(identity.utf8)))])
            #expect(
                await status { _ = try await backend.startRegistration(backend.makeUser("carol")) }
                    == .responseParseError, "\(identity)")
        }
        #expect(await status { _ = try await backend.user("carol") } == .flowError)
    }

    @Test("a lying second authority or store of permits costs no more than an attempt of the right PIN")
    func lyingPermit() async throws {
        let point = Hex.encode(try #require(VectorFiles.first("time_permit_share2")))
        for (endpoint, isRestarted) in [
            ("timePermit", false), ("timePermitTwo", false), ("timePermitTwo", true), ("storage", false),
            ("storage", true),
        ] {
            let server = try await FakeBackEnd.start()
            try await server.set(["settings": ["timePermitsStorageURL": endpoint == "storage" ? "/storage" : ""]])
            var backend = try await server.backend()
            _ = try await backend.user(.registered, at: server)
            if endpoint == "storage" {
                // It goes on lying.
                try await server.answer(endpoint, 200, point)
            } else {
                try await server.patch(endpoint, ["timePermit": .string(point)])
            }
            #expect(await status { try await backend.logIn(backend.user("alice")) } == .incorrectPIN)
            try await server.set(["patches": [:]])
            if isRestarted { backend = try await server.restarted() }
            try await backend.logIn(backend.user("alice"))
            // And what was obtained then serves the day again.
            let requests = try await server.requests { try await backend.logIn(backend.user("alice")) }
            #expect(
                requests.map { $0.path.split(separator: "/").dropFirst().joined(separator: "/") }.dropFirst()
                    == ["rps/pass1", "rps/pass2", "mpinAuthenticate"], "\(endpoint)")
        }
    }

    @Test("a back end whose permit was wrong is not asked for another login's start before the next PIN")
    func lyingPermitInOneLogin() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        let point = Hex.encode(try #require(VectorFiles.first("time_permit_share2")))
        try await server.patch("timePermitTwo", ["timePermit": .string(point)])
        try await backend.startAuthentication(user)
        try await server.behave()
        #expect(
            await status { _ = try await backend.finishAuthentication(user, pin: MPinBackend.pin) } == .incorrectPIN)
        _ = try await backend.finishAuthentication(user, pin: MPinBackend.pin)
    }

    @Test(
        "an authority that gives another point for the secret registers nobody: no PIN is right (MPIN 2.7)",
        arguments: ["signature", "clientSecret"])
    func lyingSecret(endpoint: String) async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let point = Hex.encode(try #require(VectorFiles.first("client_secret_share1")))
        let member = endpoint == "signature" ? "clientSecretShare" : endpoint
        try await server.patch(endpoint, [member: .string(point)])
        var user = try await backend.user(.registered, at: server)
        try await server.behave()
        // A client has no pairing with which it could know.
        #expect(await status { try await backend.logIn(user) } == .incorrectPIN)
        #expect(try await backend.user("alice").state == .registered)
        try await backend.deleteUser(user)
        user = try await backend.user(.registered, at: server)
        try await backend.logIn(user)
    }
}
