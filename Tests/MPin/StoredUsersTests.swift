import Cryptography
import Foundation
import Groundwork
import Testing
import Vault

@testable import MPin

@Suite("Storage of M-Pin users", .timeLimit(.minutes(8)))
struct StoredUsersTests {
    private func document(_ server: FakeBackEnd, _ name: String, of account: String = "one") async throws -> JSON {
        let record = try await server.vault.record(RecordName(scope: "account/" + account, name: name))
        return try JSON(parsing: #require(record).content.exposed())
    }

    private func write(_ server: FakeBackEnd, _ name: String, _ text: String) async throws {
        try await server.vault.commit([
            .put(RecordName(scope: "account/one", name: name), .state, SecretBytes(utf8: text))
        ])
    }

    @Test("stored M-Pin users have the layout of two records, and nothing else (MPIN 9, MPIN checklist 40)")
    func layout() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        try await server.set(["isActive": false])
        _ = try await backend.startRegistration(backend.makeUser("alice", deviceName: "board"))
        let registered = try await backend.user(.registered, named: "bob", at: server)
        _ = try await backend.user(.blocked, named: "carol", at: server)
        let held = try await backend.requireOpen()
        func hex(_ id: String) throws -> String { try #require(held[id]?.identity.hex) }
        let empty: JSON = ["date": 0, "timePermit": ""]
        #expect(
            try await document(server, "users") == [
                backend.key: .object([
                    try hex("alice"): [
                        "state": "STARTED_REGISTRATION", "deviceName": "board", "timePermitCache": empty,
                    ],
                    try hex("bob"): ["state": "REGISTERED", "timePermitCache": empty],
                    try hex("carol"): ["state": "BLOCKED", "timePermitCache": empty],
                ])
            ])
        let secrets = try await document(server, "secrets")
        #expect(Set(secrets.object?.keys.map { $0 } ?? []) == [try hex("alice"), try hex("bob")])
        #expect(secrets[try hex("alice")]?["regOTT"]?.string?.count == 32)
        #expect((secrets.object ?? [:]).values.map(\.object?.count) == [1, 1])
        let token = try #require(secrets[try hex("bob")]?["token"]?.string)
        #expect(token.wholeMatch(of: /04[0-9a-f]{128}/) != nil)
        try await backend.logIn(registered)
        let cache = try await document(server, "users")[backend.key]?[try hex("bob")]?["timePermitCache"]
        #expect(cache?["date"] == 19_674 && cache?["timePermit"]?.string?.wholeMatch(of: /04[0-9a-f]{128}/) != nil)
        // A start of the program finds the same.
        let users = try await server.restarted().users()
        #expect(users.map(\.id) == ["alice", "bob", "carol"])
        #expect(users.map(\.state) == [.startedRegistration, .registered, .blocked])
        #expect(users.map(\.deviceName) == ["board", nil, nil])
        for user in try await server.restarted().users() { #expect(!users.contains(user)) }
    }

    @Test("stored M-Pin users are not in the vault's file in the clear, and their PINs nowhere (MPIN 9)")
    func sealed() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.activated, at: server)
        let pin = SecretBytes(utf8: "a PIN that is found")
        _ = try await backend.finishRegistration(backend.confirmRegistration(user), pin: pin)
        let token = try #require(try await document(server, "secrets").object?.values.first?["token"]?.string)
        let folder = URL(filePath: server.vault.path).deletingLastPathComponent()
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let content = try Data(contentsOf: folder.appending(path: file))
            for secret in [token, "a PIN that is found", "alice", "regOTT"] {
                #expect(content.firstRange(of: Data(secret.utf8)) == nil, "\(file) \(secret)")
            }
        }
        for name in ["users", "secrets", "configuration"] {
            #expect(!(try await document(server, name).text.contains("a PIN that is found")))
        }
    }

    private static let broken: [(name: String, text: String)] = [
        ("users", ""), ("users", "{"), ("users", "[]"), ("users", #"{"other.example.org": {}}"#),
        ("users", #"{"KEY": []}"#), ("users", #"{"KEY": {"zz": {"state": "REGISTERED"}}}"#),
        ("users", #"{"KEY": {"7b7d": {"state": "REGISTERED"}}}"#),
        ("users", #"{"KEY": {"ID": {"state": "INVALID"}}}"#), ("users", #"{"KEY": {"ID": {"state": "registered"}}}"#),
        ("users", #"{"KEY": {"ID": {}}}"#), ("users", #"{"KEY": {"ID": {"state": "STARTED_REGISTRATION"}}}"#),
        ("users", #"{"KEY": {"ID": {"state": "ACTIVATED"}}}"#),
        ("users", #"{"KEY": {"ID": {"state": "REGISTERED", "deviceName": 1}}}"#),
        ("users", #"{"KEY": {"ID": {"state": "REGISTERED", "timePermitCache": {"date": 1, "timePermit": "04"}}}}"#),
        ("users", #"{"KEY": {"ID": {"state": "REGISTERED", "timePermitCache": {"timePermit": ""}}}}"#),
        ("users", #"{"KEY": {"ID": {"state": "REGISTERED"}, "OTHER": {"state": "REGISTERED"}}}"#),
        ("secrets", "x"), ("secrets", "[]"), ("secrets", #"{"ID": {"token": "04"}}"#),
        ("secrets", #"{"ID": {"regOTT": ""}}"#), ("secrets", #"{"ID": {"regOTT": "text"}}"#),
        ("secrets", #"{"ID": {"regOTT": "text", "token": "04"}}"#), ("secrets", #"{"ID": "token"}"#),
        ("secrets", #"{"zz": {"regOTT": "text"}}"#),
    ]

    @Test("stored M-Pin users that cannot be read are a STORAGE_ERROR and stay (MPIN 9, MPIN checklist 40)")
    func corrupt() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        let identity = try #require(try await backend.requireOpen()["alice"]?.identity.hex)
        let other = Hex.encode(Array(#"{"userID":"alice"}"#.utf8))
        let good = (try await document(server, "users"), try await document(server, "secrets"))
        for (name, text) in Self.broken {
            let text = text.replacing("KEY", with: backend.key).replacing("ID", with: identity)
                .replacing("OTHER", with: other)
            try await write(server, "users", good.0.text)
            try await write(server, "secrets", good.1.text)
            try await write(server, name, text)
            let accounts = server.accounts()
            await #expect(throws: MPinError.recordInvalid(account: "one"), "\(text)") {
                try await accounts.backend("one")
            }
            #expect(await status { _ = try await backend.logIn(user) } == .storageError, "\(text)")
            #expect(await status { try await backend.deleteUser(user) } == .storageError)
            let kept = try await server.vault.record(RecordName(scope: "account/one", name: name))
            #expect(kept?.content.exposedText() == text)
            #expect(try await accounts.names() == ["one"])
        }
        try await write(server, "users", good.0.text)
        try await write(server, "secrets", good.1.text)
        let restarted = try await server.restarted()
        try await restarted.logIn(restarted.user("alice"))
    }

    @Test("a stored M-Pin user without a token is a CRYPTO_ERROR when it is needed (MPIN 6)")
    func noToken() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        _ = try await backend.user(.registered, at: server)
        try await write(server, "secrets", "{}")
        let restarted = try await server.restarted()
        let user = try await restarted.user("alice")
        #expect(user.state == .registered)
        #expect(await status { try await restarted.logIn(user) } == .cryptoError)
    }

    @Test("a stored M-Pin registration goes on after a restart, or says what to do (MPIN 9, MPIN checklist 39)")
    func interrupted() async throws {
        let server = try await FakeBackEnd.start()
        var backend = try await server.backend()
        _ = try await backend.user(.startedRegistration, at: server)
        try await server.set(["isActive": true])
        // Before the confirmation: it goes on.
        backend = try await server.restarted()
        var user = try await backend.confirmRegistration(backend.user("alice"))
        #expect(user.isConfirmed)
        // After it: the shares were in memory only, and the back end issues no others.
        backend = try await server.restarted()
        user = try await backend.user("alice")
        #expect(user.state == .startedRegistration && !user.isConfirmed)
        #expect(await status { _ = try await backend.finishRegistration(user, pin: MPinBackend.pin) } == .flowError)
        #expect(await status { _ = try await backend.confirmRegistration(user) } == .identityNotVerified)
        // One who waits for verification starts again, with another identity.
        let former = try #require(try await backend.requireOpen()["alice"]?.identity)
        user = try await backend.restartRegistration(user)
        #expect(try await backend.requireOpen()["alice"]?.identity != former)
        user = try await backend.finishRegistration(backend.confirmRegistration(user), pin: MPinBackend.pin)
        // After the PIN: it is done.
        backend = try await server.restarted()
        try await backend.logIn(backend.user("alice"))

        // One who was verified at once has to be deleted.
        _ = try await backend.confirmRegistration(backend.user(.activated, named: "bob", at: server))
        backend = try await server.restarted()
        user = try await backend.user("bob")
        #expect(await status { _ = try await backend.confirmRegistration(user) } == .identityNotVerified)
        #expect(await status { _ = try await backend.restartRegistration(user) } == .flowError)
        try await backend.deleteUser(user)
        try await backend.logIn(backend.user(.registered, named: "bob", at: server))
    }

    @Test("stored M-Pin users of two back ends are apart, even with one name (MPIN 6, MPIN checklist 41)")
    func twoBackEnds() async throws {
        let server = try await FakeBackEnd.start()
        let (one, two) = (try await server.backend("one"), try await server.backend("two"))
        let first = try await one.user(.registered, at: server)
        let second = try await two.user(.registered, at: server)
        #expect(first != second && first.backend != second.backend)
        #expect(await status { try await two.logIn(first) } == .flowError)
        try await one.logIn(first)
        try await two.logIn(second)
        _ = try await two.user(.activated, named: "bob", at: server)
        let accounts = server.accounts()
        #expect(try await accounts.names() == ["one", "two"])
        var all: [[String]] = []
        for name in try await accounts.names() {
            let backend = try #require(try await accounts.backend(name))
            all += try await backend.users().map { [backend.key, $0.backend, $0.id] }
        }
        #expect(
            all == [
                [one.key, one.key, "alice"], [two.key, two.key, "alice"], [two.key, two.key, "bob"],
            ])
        try await one.deleteUser(first)
        #expect(try await two.users().map(\.id) == ["alice", "bob"])
        try await two.logIn(second)
        try await accounts.remove("two")
        #expect(try await accounts.names() == ["one"])
        #expect(try await accounts.backend("two") == nil)
        #expect(try await server.vault.names(scope: "account/two").isEmpty)
        #expect(try await server.vault.names(scope: "account/one").count == 3)
    }

    @Test("an M-Pin account is not opened again by whoever asks for it while it is removed")
    func removedWhileUsed() async throws {
        let server = try await FakeBackEnd.start()
        for _ in 0..<8 {
            // An account that is open, and one that is not.
            let accounts = server.accounts()
            _ = try await accounts.add("one", server.configuration())
            _ = try await accounts.add("two", server.configuration("two"))
            let others = server.accounts()
            _ = try await others.backend("one")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for name in ["one", "two"] {
                    for _ in 0..<4 { group.addTask { _ = try await others.backend(name) } }
                    group.addTask { try await others.remove(name) }
                    for _ in 0..<4 { group.addTask { _ = try await others.backend(name) } }
                }
                try await group.waitForAll()
            }
            for name in ["one", "two"] { #expect(try await others.backend(name) == nil) }
        }
    }

    @Test("a back end that does not answer stores nothing for its M-Pin account")
    func noAnswer() async throws {
        let server = try await FakeBackEnd.start()
        let accounts = server.accounts()
        try await server.answer("clientSettings", 404)
        #expect(
            await status { _ = try await accounts.add("one", server.configuration()) } == .httpRequestError)
        #expect(await status { try await accounts.testBackend(server.configuration()) } == .httpRequestError)
        #expect(try await accounts.names().isEmpty)
        #expect(try await accounts.backend("one") == nil)
        #expect(try await server.vault.names(scope: "account/one").isEmpty)
        try await server.behave()
        let settings = try await accounts.testBackend(server.configuration())
        #expect(settings["appID"] == "a0b1" && settings["setDeviceName"] == "true")
        #expect(settings["accessNumberDigits"] == "7" && settings["registerURL"] == server.base + "/one/rps/user")
        #expect(try await accounts.names().isEmpty)
    }

    @Test("an M-Pin account keeps the settings it had when others cannot be fetched (MPIN 6)")
    func settings() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let settings = try await backend.connected()
        #expect(await backend.asksForDeviceName)
        try await server.answer("clientSettings", 500)
        #expect(await status { try await backend.connect() } == .httpServerError)
        #expect(try await backend.connected() == settings)
    }
}
