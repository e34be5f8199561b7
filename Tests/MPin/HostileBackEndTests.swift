import Cryptography
import Foundation
import Groundwork
import Testing

@testable import MPin

@Suite("A hostile M-Pin back end", .timeLimit(.minutes(8)))
struct HostileBackEndTests {
    /// Where an answer has a point, and the operation that asks for it.
    private static let places = [
        ("signature", "clientSecretShare"), ("clientSecret", "clientSecret"), ("timePermit", "timePermit"),
        ("timePermitTwo", "timePermit"),
    ]

    private func work(
        _ endpoint: String, _ server: FakeBackEnd, _ backend: MPinBackend
    ) async throws -> @Sendable () async throws -> Void {
        if endpoint.hasPrefix("timePermit") {
            let user = try await backend.user(.registered, at: server)
            return { try await backend.startAuthentication(user) }
        }
        let user = try await backend.user(.activated, at: server)
        return { _ = try await backend.confirmRegistration(user) }
    }

    @Test(
        "a point off the curve is CRYPTO_ERROR, a missing one RESPONSE_PARSE_ERROR (MPIN 2.2, MPIN checklist 12)",
        arguments: places)
    func points(endpoint: String, member: String) async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let work = try await work(endpoint, server, backend)
        let points = VectorFiles.invalidPoints.compactMap { $0.text("octets") }.filter { Hex.decode($0) != nil }
        #expect(points.count >= 10)
        for octets in points + ["00", "04"] + [600, 5000].map({ String(repeating: "04", count: $0) }) {
            try await server.patch(endpoint, [member: .string(octets)])
            #expect(
                await status(work) == (octets.isEmpty ? .responseParseError : .cryptoError), "\(octets.prefix(140))")
        }
        for value in [nil, "", "0", "zz", 4, ["04"]] as [JSON] {
            try await server.patch(endpoint, [member: value])
            #expect(await status(work) == .responseParseError, "\(value)")
        }
        try await server.behave()
        try await work()
    }

    @Test("a y without 64 digits is a RESPONSE_PARSE_ERROR, and one above the order is taken (MPIN checklist 10)")
    func challenges() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        let long = [String(repeating: "0", count: 66), String(repeating: "z", count: 64)].map(JSON.string)
        for value in [nil, "", "00", 1] + long {
            try await server.patch("pass1", ["y": value])
            #expect(await status { try await backend.logIn(user) } == .responseParseError, "\(value)")
        }
        try await server.patch("pass1", ["y": .string(String(repeating: "F", count: 64))])
        // It is not the one that the server compares with.
        #expect(await status { try await backend.logIn(user) } == .incorrectPIN)
        try await server.behave()
        try await backend.logIn(user)
    }

    @Test(
        "a back end's answer that lacks what is required, or has another type for it, is refused (MPIN 5.1)",
        arguments: [
            ("user", "mpinId"), ("user", "regOTT"), ("signature", "params"), ("timePermit", "signature"),
            ("timePermit", "storageId"), ("pass2", "authOTT"),
        ])
    func required(endpoint: String, member: String) async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let work: @Sendable () async throws -> Void
        switch endpoint {
        case "user": work = { _ = try await backend.startRegistration(backend.makeUser("bob")) }
        case "signature":
            let user = try await backend.user(.activated, at: server)
            work = { _ = try await backend.confirmRegistration(user) }
        default:
            let user = try await backend.user(.registered, at: server)
            work = { try await backend.logIn(user) }
        }
        let long = JSON.string(String(repeating: "ab", count: 5000))
        for value in [nil, "", 1, true, ["a"], long] as [JSON] {
            try await server.patch(endpoint, [member: value])
            #expect(await status(work) == .responseParseError, "\(member) \(value.kind)")
        }
        if endpoint == "signature" {
            for value in ["a=b c", "a=b#c", "a=\"b\"", "a=\r\nb"] as [JSON] {
                try await server.patch(endpoint, [member: value])
                #expect(await status(work) == .responseParseError)
            }
        }
    }

    @Test("a back end's answer without end, nested deeply, or with a redirect is given up")
    func bounds() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        for text in [
            "{\"a\":\"" + String(repeating: "x", count: 300_000) + "\"}", String(repeating: "[", count: 100_000),
            "{\"a\":" + String(repeating: "[", count: 100_000),
        ] {
            try await server.answer("clientSettings", 200, text)
            #expect(await status { try await backend.connect() } == .responseParseError)
        }
        for code in [301, 302, 303, 307, 308] as [Int64] {
            try await server.answer("clientSettings", code)
            let requests = try await server.requests {
                #expect(await status { try await backend.connect() } == .networkError)
            }
            #expect(requests.count == 1, "no redirect is followed")
        }
        // Addresses that nothing is sent to.
        try await server.behave()
        let user = try await backend.user(.registered, at: server)
        for address in ["http://example.org/", "ftp://127.0.0.1", "no address", "", "https://user@127.0.0.1/"] {
            try await server.patch("clientSettings", ["timePermitsURL": .string(address)])
            try await backend.connect()
            let requests = try await server.requests {
                let found = await status { try await backend.startAuthentication(user) }
                #expect(found == (address.isEmpty ? .responseParseError : .networkError), "\(address)")
            }
            #expect(requests.isEmpty)
        }
    }

    @Test("a back end that is away makes a NETWORK_ERROR, and nothing is lost by it")
    func away() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        for endpoint in ["timePermit", "pass1", "pass2", "authenticate"] {
            try await server.answer(endpoint, 0)
            #expect(await status { try await backend.logIn(user) } == .networkError)
        }
        try await server.behave()
        try await backend.logIn(user)
    }

    @Test("a back end gets none of its secrets or words into an error (MPIN 8, MPIN checklist 42)")
    func noSecrets() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let pin = SecretBytes(utf8: "secret-pin-9876")
        var errors: [any Error] = []
        func fails(_ work: () async throws -> Void) async {
            do {
                try await work()
            } catch {
                errors.append(error)
            }
        }
        let texts: [(Int64, String)] = [
            (0, ""), (200, "{\"echo\":\"ECHO\"}"), (200, "ECHO"), (302, "ECHO"), (400, "ECHO"), (403, "ECHO"),
            (500, "ECHO"),
        ]
        let activated = try await backend.user(.activated, at: server)
        for endpoint in ["clientSettings", "user", "signature", "clientSecret"] {
            for (status, text) in texts {
                try await server.answer(endpoint, status, text)
                await fails { try await backend.connect() }
                await fails {
                    _ = try await backend.startRegistration(
                        backend.makeUser(UUID().uuidString), activateCode: SecretBytes(utf8: "secret-code"))
                }
                await fails { _ = try await backend.confirmRegistration(activated, pushIdentifier: "secret-push") }
            }
        }
        try await server.behave()
        let user = try await backend.user(.registered, named: "bob", at: server)
        for endpoint in ["timePermit", "timePermitTwo", "pass1", "pass2", "authenticate"] {
            for (status, text) in texts {
                try await server.answer(endpoint, status, text)
                await fails {
                    try await backend.startAuthentication(user)
                    _ = try await backend.finishAuthentication(user, pin: pin)
                }
            }
        }
        #expect(errors.count > 45)
        let stored = try await backend.store.read().secretDocument.object ?? [:]
        let secrets =
            ["ECHO", "secret-pin-9876", "secret-code", "secret-push", "regOTT"]
            + stored.values.compactMap { ($0["regOTT"] ?? $0["token"])?.string } + stored.keys
        #expect(secrets.count >= 8)
        // Whatever has the form of a point or of a scalar.
        let digits = /[0-9a-fA-F]{32}/
        for error in errors {
            let explanation = Explanation(of: error)
            for text in [explanation.message, explanation.remedy ?? "", "\(error)"] {
                #expect(secrets.allSatisfy { !text.contains($0) }, "\(text)")
                #expect(text.firstMatch(of: digits) == nil, "\(text)")
            }
        }
    }

    @Test("a failed second authority is asked again there within a minute (MPIN 5.6)")
    func secondAuthority() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.activated, at: server)
        try await server.answer("clientSecret", 500)
        #expect(await status { _ = try await backend.confirmRegistration(user) } == .httpServerError)
        try await server.behave()
        let requests = try await server.requests { _ = try await backend.confirmRegistration(user) }
        #expect(requests.map { $0.path.split(separator: "/").last } == ["clientSecret"])

        for lateness in [61, 0] as [TimeInterval] {
            let other = try await backend.user(.activated, named: "user \(lateness)", at: server)
            try await server.answer("clientSecret", lateness > 0 ? 500 : 408)
            let failed = await status { _ = try await backend.confirmRegistration(other) }
            #expect(failed == (lateness > 0 ? .httpServerError : .requestExpired))
            server.advance(by: lateness)
            try await server.behave()
            // The first one is asked again, and has nothing left to give.
            let late = try await server.requests {
                #expect(await status { _ = try await backend.confirmRegistration(other) } == .identityNotVerified)
            }
            #expect(late.count == 1)
        }
    }
}
