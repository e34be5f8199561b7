import Cryptography
import Foundation
import Groundwork
import HTTPClient
import Testing
import Vault

@testable import GatewayServices

@Suite("Items at the gateway")
struct CloudItemTests {
    @Test(
        "the segment Client is taken off the configured path (MAG 11.1)",
        arguments: [
            ("/MASS/v1/Client", "/MASS/v1"), ("/MASS/v1", "/MASS/v1"), ("/MASS/v1/", "/MASS/v1"),
            ("/Client/MASS/v1/", "/MASS/v1"), ("/Clients/v1", "/Clients/v1"),
            ("https://s.example/MASS/Client", "https://s.example/MASS"),
        ])
    func base(path: String, base: String) throws {
        #expect(try CloudStorage.base(of: path) == base)
    }

    @Test(
        "an item path that is not valid has the number of the public clients (300003)",
        arguments: ["", "/", "/Client", "x"])
    func noPath(path: String) {
        let error = #expect(throws: ItemError.self) { try CloudStorage.base(of: path) }
        #expect(error?.explanation.gateway == GatewayNumbers(.storage, 300_003))
    }

    @Test("saving an item is a PUT, a POST where the key is new, and a PUT where another program was quicker")
    func save() async throws {
        for (answers, methods) in [
            ([204], ["PUT"]), ([404, 201], ["PUT", "POST"]), ([404, 409, 200], ["PUT", "POST", "PUT"]),
        ] {
            let answering =
                switch answers.count {
                case 1: Answering((answers[0], ""))
                case 2: Answering((answers[0], "{not json"), (answers[1], ""))
                default: Answering((answers[0], ""), (answers[1], ""), (answers[2], ""))
                }
            let storage = try CloudStorage(client: answering.client, path: "/MASS/v1/Client")
            try await storage.save("a/b", [1, 2], type: "x/y", in: .applicationUser)
            #expect(answering.requests.map(\.method) == methods)
            for request in answering.requests {
                #expect(request.path == "/MASS/v1/Client/User/Data/a%2Fb" && request.needsUser)
                #expect(try JSON(parsing: request.body ?? []) == ["key": "a/b", "type": "x/y", "value": "AQI="])
            }
        }
        let refused = try CloudStorage(client: Answering((404, ""), (500, "")).client, path: "/MASS/v1")
        #expect(
            await failure(as: ServiceError.self) { try await refused.save("k", [], type: "a", in: .application) }?.code
                == "services.refused")
    }

    @Test("each segment of items has its path, and only a user's need the user")
    func segments() async throws {
        let answering = Answering((200, #"{"results":[]}"#), (200, #"{"results":[]}"#), (200, #"{"results":[]}"#))
        let storage = try CloudStorage(client: answering.client, path: "/MASS/v1/Client")
        for segment in ItemSegment.allCases { #expect(try await storage.list(segment).isEmpty) }
        #expect(
            answering.requests.map(\.path)
                == ["/MASS/v1/Client/Data", "/MASS/v1/User/Data", "/MASS/v1/Client/User/Data"])
        #expect(answering.requests.map(\.needsUser) == [false, true, true])
    }

    @Test(
        "an item at the gateway is read in both forms that gateways have",
        arguments: [
            (#"{"key":"k","type":"text/plain","value":"aGk="}"#, "text/plain", "hi"),
            (
                #"{"type":"application/json","value":"\#(Base64.encode(#"{"key":"k","type":"a/b","value":"aG\nk="}"#.utf8))"}"#,
                "a/b", "hi"
            ),
            (
                #"{"type":"application/json; x","value":"\#(Base64.encode(#"{"type":"a/b","value":"aG\\nk="}"#.utf8))"}"#,
                "a/b", nil
            ),
        ] as [(String, String, String?)])
    func forms(body: String, type: String, value: String?) throws {
        guard let value else {
            #expect(throws: ItemError.self) { try CloudStorage.item(Array(body.utf8), "k") }
            return
        }
        let item = try CloudStorage.item(Array(body.utf8), "k")
        #expect(item.type == type && String(decoding: item.value, as: UTF8.self) == value)
    }
}

@Suite("Items in the vault")
struct LocalItemTests {
    private let date: @Sendable () -> Date = { Date(timeIntervalSince1970: 1_800_000_000) }

    private func withStorage(_ body: (LocalStorage, Vault) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "latchkey-items-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let vault = try await Vault.open(
            at: directory + "/vault.db", with: [DevelopmentKeyFile(directory + "/vault.key")], creating: true)
        try await body(LocalStorage(vault: vault, scope: "gw:8443/", now: date), vault)
        await vault.close()
    }

    @Test("items in the vault are found as saved, listed by key, and belong to one owner and one gateway")
    func owners() async throws {
        try await withStorage { storage, vault in
            try await storage.save("b", [1], type: "x/y", of: .application)
            try await storage.save("a", [2], type: "text/plain", of: .application)
            try await storage.save("b", [3], type: "text/plain", of: .user("al/ice"))
            #expect(
                try await storage.find("b", of: .application)
                    == StoredItem(key: "b", type: "x/y", modified: "2027-01-15T08:00:00Z", value: [1]))
            #expect(try await storage.list(of: .application).map(\.key) == ["a", "b"])
            #expect(try await storage.list(of: .user("bob")).isEmpty)
            let other = LocalStorage(vault: vault, scope: "other:8443/", now: date)
            #expect(try await other.list(of: .application).isEmpty)
            #expect(try await storage.deleteAll(of: .application) == 2)
            #expect(try await storage.find("b", of: .user("al/ice")).value == [3])
        }
    }

    @Test("items in the vault encrypted with a password cannot be read without it, or in another's place")
    func passwords() async throws {
        try await withStorage { storage, vault in
            let password = SecretBytes(utf8: "open sesame")
            try await storage.save("k", Array("text".utf8), type: "a/b", of: .application, password: password)
            #expect(try await storage.find("k", of: .application, password: password).value == Array("text".utf8))
            #expect(
                await failure(as: ItemError.self) { try await storage.find("k", of: .application) }
                    == .passwordRequired(key: "k"))
            for wrong in ["open sesam", "open sesame "] {
                #expect(
                    await failure(as: ItemError.self) {
                        try await storage.find("k", of: .application, password: SecretBytes(utf8: wrong))
                    } == .passwordWrong(key: "k"))
            }
            #expect(
                await failure(as: ItemError.self) {
                    try await storage.save("k", [], type: "a", of: .application, password: SecretBytes(utf8: ""))
                } == .passwordMissing)
            let record = try #require(
                try await vault.record(RecordName(scope: "gw:8443/", name: "item/application/k")))
            #expect(!record.content.exposedText().contains(Base64.encode("text".utf8)))
            // The same record under another key is not the item of that key.
            try await vault.commit([
                .put(RecordName(scope: "gw:8443/", name: "item/application/l"), record.kind, record.content)
            ])
            #expect(
                await failure(as: ItemError.self) {
                    try await storage.find("l", of: .application, password: password)
                } == .passwordWrong(key: "l"))
        }
    }

    @Test("items in the vault have keys of bounded form, at most 64 KiB, and number at most 256")
    func limits() async throws {
        try await withStorage { storage, vault in
            for key in ["a b", "a/b", "ä", "a\u{7}", String(repeating: "k", count: 129)] {
                let error = await failure(as: ItemError.self) {
                    try await storage.save(key, [], type: "a", of: .application)
                }
                #expect(error?.code == "items.key-invalid", "\(key)")
            }
            #expect(await failure(as: ItemError.self) { try await storage.find("", of: .application) } == .keyMissing)
            let most = [UInt8](repeating: 7, count: StoredItem.valueLimit)
            try await storage.save(#"az-AZ\09._"#, most, type: "a", of: .application)
            #expect(try await storage.find(#"az-AZ\09._"#, of: .application).value == most)
            #expect(
                await failure(as: ItemError.self) {
                    try await storage.save("k", most + [7], type: "a", of: .application)
                } == .valueTooLarge(bytes: most.count + 1, limit: most.count))
            #expect(
                await failure(as: ItemError.self) {
                    try await storage.save("k", [], type: "a\nb", of: .application)
                } == .typeInvalid)
            let content = SecretBytes(utf8: #"{"type":"a","value":""}"#)
            try await vault.commit(
                (2...LocalStorage.countLimit).map {
                    .put(RecordName(scope: "gw:8443/", name: "item/application/n\($0)"), .state, content)
                })
            #expect(
                await failure(as: ItemError.self) { try await storage.save("new", [], type: "a", of: .user("al")) }
                    == .full(limit: LocalStorage.countLimit))
            try await storage.save("n2", [1], type: "a", of: .application)
        }
    }

    @Test("items in a locked vault are refused (108), and distinguished from unreadable ones (103)")
    func locked() async throws {
        try await withStorage { storage, vault in
            await vault.lock()
            let locked = await failure(as: ItemError.self) { try await storage.list(of: .application) }
            #expect(locked == .locked && locked?.explanation.gateway == GatewayNumbers(.storage, 108))
            await vault.close()
            let closed = await failure(as: ItemError.self) { try await storage.list(of: .application) }
            #expect(closed?.explanation.gateway == GatewayNumbers(.storage, 103))
        }
    }

    @Test("items of the board are not a user's, and those beyond the application are not stored here")
    func segments() throws {
        #expect(try LocalStorage.Owner(.application, user: "al") == .application)
        #expect(try LocalStorage.Owner(.applicationUser, user: "al") == .user("al"))
        #expect(throws: ItemError.segmentInvalid) { try LocalStorage.Owner(.user, user: "al") }
        #expect(LocalStorage.Owner.user("al").prefix != LocalStorage.Owner.user("bo").prefix)
    }
}
