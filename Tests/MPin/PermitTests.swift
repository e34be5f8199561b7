import Cryptography
import Foundation
import Groundwork
import Testing

@testable import MPin

@Suite("Time permits of M-Pin", .timeLimit(.minutes(8)))
struct PermitTests {
    private func ends(_ requests: [FakeBackEnd.Request]) -> [String] {
        requests.map { $0.path.split(separator: "/").dropFirst().prefix(2).joined(separator: "/") }
    }

    @Test("permits come from vault, published store or second authority (MPIN 5.7, MPIN checklist 22)")
    func order() async throws {
        let server = try await FakeBackEnd.start()
        try await server.set(["settings": ["timePermitsStorageURL": "/storage"]])
        var backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        let identity = try #require(try await backend.requireOpen()["alice"]?.identity)
        let hash = Hex.encode(identity.hash)
        var requests = try await server.requests { try await backend.logIn(user) }
        #expect(requests[1].path == "/one/storage/a0b1/19674/\(hash)")
        #expect(ends(requests) == ["rps/timePermit", "storage/a0b1", "rps/pass1", "rps/pass2", "mpinAuthenticate"])
        // The first share is asked for each time, the second one is kept, also over a restart.
        backend = try await server.restarted()
        requests = try await server.requests { try await backend.logIn(backend.user("alice")) }
        #expect(ends(requests) == ["rps/timePermit", "rps/pass1", "rps/pass2", "mpinAuthenticate"])
        // Another day, and nothing that is published can be used.
        let broken: [(Int64, String)] = [
            (404, ""), (500, "x"), (302, ""), (200, ""), (200, "04"), (200, "\"04\""),
            (200, String(repeating: "0", count: 130)), (200, "{\"timePermit\":\"00\"}"),
            (200, String(repeating: " ", count: 100_000)), (200, "ü"),
        ]
        for (index, (status, text)) in broken.enumerated() {
            try await server.set(["date": .integer(20_000 + Int64(index))])
            try await server.answer("storage", status, text)
            requests = try await server.requests { try await backend.logIn(backend.user("alice")) }
            #expect(
                ends(requests) == [
                    "rps/timePermit", "storage/a0b1", "dta/timePermit", "rps/pass1", "rps/pass2", "mpinAuthenticate",
                ], "\(status) \(text.prefix(20))")
        }
        let signature = String(repeating: "cd", count: 32)
        #expect(requests[2].query == "hash_mpin_id=\(hash)&app_id=a0b1&mobile=1&signature=\(signature)")
        // Nor can the place be reached.
        try await server.set(["date": 30_000])
        try await server.patch("clientSettings", ["timePermitsStorageURL": "http://127.0.0.1:1"])
        try await backend.connect()
        requests = try await server.requests { try await backend.logIn(backend.user("alice")) }
        #expect(ends(requests).prefix(2) == ["rps/timePermit", "dta/timePermit"])
    }

    @Test("permits that are published may have blanks around them (MPIN 5.7)")
    func blanks() throws {
        let point = try #require(VectorFiles.first("time_permit_share2"))
        let hex = Hex.encode(point)
        for text in [hex, " \(hex)\r\n", hex.uppercased()] {
            #expect(PublishedPermit.point(Array(text.utf8))?.encoding == point, "\(text)")
        }
        let long = hex + String(repeating: " ", count: 1024)
        for text in ["", "\(hex) \(hex)", "\"\(hex)\"", String(hex.dropLast()), long] {
            #expect(PublishedPermit.point(Array(text.utf8)) == nil, "\(text)")
        }
    }

    @Test("permits serve several logins of a day, and are asked for again on the next (MPIN 6)")
    func nextDay() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        try await backend.startAuthentication(user)
        let requests = try await server.requests {
            _ = try await backend.finishAuthentication(user, pin: MPinBackend.pin)
            server.advance(by: 86_400)
            try await server.set(["date": 19_675])
            _ = try await backend.finishAuthentication(user, pin: MPinBackend.pin)
            _ = try await backend.finishAuthentication(user, pin: MPinBackend.pin)
        }
        let passes = ["rps/pass1", "rps/pass2", "mpinAuthenticate"]
        #expect(ends(requests) == passes + ["rps/timePermit", "dta/timePermit"] + passes + passes)
    }

    @Test("permits are not asked for where the back end has none (MPIN 2.8, MPIN checklist 23)")
    func none() async throws {
        let server = try await FakeBackEnd.start()
        try await server.set(["usePermits": false])
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        let requests = try await server.requests { try await backend.logIn(user) }
        #expect(ends(requests) == ["rps/pass1", "rps/pass2", "mpinAuthenticate"])
        #expect(requests[0].body["UT"] == "")
        // Nothing has to be started then.
        _ = try await backend.finishAuthentication(user, pin: MPinBackend.pin)
    }

    @Test(
        "permits with a date out of range are refused (MPIN 2.3)",
        arguments: [0, -1, 2_147_483_648, 9_223_372_036_854_775_807, 1.5, "19674", nil] as [JSON])
    func dates(date: JSON) async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        try await server.patch("timePermit", ["date": date])
        #expect(await status { try await backend.startAuthentication(user) } == .responseParseError)
        try await server.behave()
        try await backend.logIn(user)
    }
}
