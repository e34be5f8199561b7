import Cryptography
import Foundation
import Groundwork
import Testing
import Vault

@testable import MPin

@Suite("Statuses of M-Pin back ends", .timeLimit(.minutes(8)))
struct StatusTests {
    /// An operation, as far as the request to an endpoint.
    enum Step: String, CaseIterable, Sendable {
        case settings = "clientSettings"
        case service
        case register = "user"
        case restart = "user-again"
        case firstSecret = "signature"
        case secondSecret = "clientSecret"
        case firstPermit = "timePermit"
        case secondPermit = "timePermitTwo"
        case passOne = "pass1"
        case passTwo = "pass2"
        case verdict = "authenticate"
        case mobileVerdict = "mobileAuthenticate"
        case session = "codeStatus"
        case logOut = "logout"

        var endpoint: String { self == .restart ? "user" : rawValue }

        /// The table of MPIN 8 for one request.
        var overrides: [Int64: MPinStatus] {
            switch self {
            case .register, .restart: [403: .identityNotAuthorized]
            case .firstSecret: [400: .identityNotVerified, 401: .identityNotVerified]
            case .secondSecret: [408: .requestExpired]
            case .firstPermit: [401: .revoked, 403: .revoked, 410: .revoked]
            case .secondPermit: [410: .revoked]
            case .verdict, .mobileVerdict:
                [
                    401: .incorrectPIN, 403: .identityNotAuthorized, 408: .requestExpired, 409: .clientSecretExpired,
                    410: .incorrectPIN, 412: .incorrectAccessNumber,
                ]
            default: [:]
            }
        }
    }

    private static let generic: [(Int64, MPinStatus)] = [
        (0, .networkError), (204, .responseParseError), (302, .networkError), (307, .networkError),
        (400, .httpRequestError), (401, .httpRequestError), (403, .httpRequestError), (404, .httpRequestError),
        (406, .badUserAgent), (408, .httpRequestError), (409, .httpRequestError), (410, .httpRequestError),
        (412, .httpRequestError), (500, .httpServerError), (503, .httpServerError), (599, .httpServerError),
    ]

    /// What a test needs so that the next request is the one to the endpoint.
    private func prepared(
        _ step: Step, _ server: FakeBackEnd, _ backend: MPinBackend
    ) async throws -> @Sendable () async throws -> Void {
        let accounts = server.accounts()
        let base = server.base
        switch step {
        case .settings: return { try await backend.connect() }
        case .service: return { _ = try await accounts.serviceDetails(at: base + "/one") }
        case .register: return { _ = try await backend.startRegistration(backend.makeUser("alice")) }
        case .restart:
            let user = try await backend.user(.startedRegistration, at: server)
            return { _ = try await backend.restartRegistration(user) }
        case .firstSecret:
            let user = try await backend.user(.activated, at: server)
            return { _ = try await backend.confirmRegistration(user) }
        case .secondSecret:
            let user = try await backend.user(.activated, at: server)
            return { _ = try await backend.confirmRegistration(user) }
        case .firstPermit, .secondPermit:
            let user = try await backend.user(.registered, at: server)
            return { try await backend.startAuthentication(user) }
        case .passOne, .passTwo, .verdict:
            let user = try await backend.user(.registered, at: server)
            try await backend.startAuthentication(user)
            return { _ = try await backend.finishAuthentication(user, pin: MPinBackend.pin) }
        case .mobileVerdict:
            let user = try await backend.user(.registered, at: server)
            try await backend.startAuthentication(user)
            return {
                try await backend.finishAuthentication(user, pin: MPinBackend.pin, accessNumber: "4241703")
            }
        case .session: return { _ = try await backend.sessionDetails("code") }
        case .logOut:
            let user = try await backend.user(.registered, at: server)
            try await server.set(["verdict": ["logoutURL": "/logout", "logoutData": ["session": 1]]])
            try await backend.startAuthentication(user)
            try await backend.finishAuthentication(user, pin: MPinBackend.pin, accessNumber: "4241703")
            return {
                let isDone = try await backend.logOut(user)
                #expect(isDone)
            }
        }
    }

    @Test(
        "each status of an M-Pin endpoint follows the table; the next try succeeds (MPIN 8, MPIN checklist 33, 38)",
        arguments: Step.allCases)
    func statuses(of step: Step) async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let work = try await prepared(step, server, backend)
        for (code, usual) in Self.generic {
            // After these there is no next attempt: a test of their own has them.
            if code == 410, step.overrides[code] == .incorrectPIN { continue }
            if code == 408, step == .secondSecret { continue }
            try await server.answer(step.endpoint, code)
            #expect(await status(work) == step.overrides[code] ?? usual, "\(code)")
        }
        if step == .logOut {
            try await server.behave()
            return try await work()
        }
        // What is not a JSON object is no answer, whatever its type.
        for text in ["[1]", "\"text\"", "<html>", "{\"a\":", "\u{FEFF}{}", "{} {}", "null"] {
            try await server.answer(step.endpoint, 200, text)
            #expect(await status(work) == .responseParseError, "\(text)")
        }
        try await server.behave()
        try await work()
    }

    @Test(
        "410 as an M-Pin verdict is INCORRECT_PIN, and the user is blocked, on either way (MPIN 8)",
        arguments: [false, true])
    func blocked(isMobile: Bool) async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        let work = try await prepared(isMobile ? .mobileVerdict : .verdict, server, backend, user)
        try await server.answer(isMobile ? "mobileAuthenticate" : "authenticate", 410)
        #expect(await status(work) == .incorrectPIN)
        #expect(try await backend.user("alice").state == .blocked)
        #expect(await status(work) == .flowError)
    }

    private func prepared(
        _ step: Step, _ server: FakeBackEnd, _ backend: MPinBackend, _ user: MPinUser
    ) async throws -> @Sendable () async throws -> Void {
        try await backend.startAuthentication(user)
        guard step == .mobileVerdict else {
            return { _ = try await backend.finishAuthentication(user, pin: MPinBackend.pin) }
        }
        return { try await backend.finishAuthentication(user, pin: MPinBackend.pin, accessNumber: "4241703") }
    }

    @Test("the 17 M-Pin statuses have the public clients' names and order, and each error has one (MPIN 8)")
    func names() {
        #expect(
            MPinStatus.allCases.map(\.rawValue) == [
                "OK", "PIN_INPUT_CANCELED", "CRYPTO_ERROR", "STORAGE_ERROR", "NETWORK_ERROR", "RESPONSE_PARSE_ERROR",
                "FLOW_ERROR", "IDENTITY_NOT_AUTHORIZED", "IDENTITY_NOT_VERIFIED", "REQUEST_EXPIRED", "REVOKED",
                "INCORRECT_PIN", "INCORRECT_ACCESS_NUMBER", "HTTP_SERVER_ERROR", "HTTP_REQUEST_ERROR",
                "BAD_USER_AGENT", "CLIENT_SECRET_EXPIRED",
            ])
        #expect(Set(MPinError.examples.map(\.status)) == Set(MPinStatus.allCases).subtracting([.ok]))
        #expect(Set(MPinError.examples.map(\.code)).count == MPinError.examples.count)
    }

    @Test("the M-Pin status is said with each error, and has the codes that the document lists (MPIN 8)")
    func documented() throws {
        let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let document = try String(
            contentsOf: repository.appending(path: "docs/protocols/error-numbers.md"), encoding: .utf8)
        var codes: [String: Set<String>] = [:]
        for error in MPinError.examples {
            let explanation = error.explanation
            #expect(explanation.status == error.status.rawValue)
            #expect(Explanation(answer: explanation.answer)?.status == error.status.rawValue)
            codes[error.status.rawValue, default: []].insert(explanation.code)
        }
        for status in MPinStatus.allCases.map(\.rawValue) {
            let row = try #require(document.split(separator: "\n").first { $0.hasPrefix("| \(status) |") })
            #expect(Set(row.matches(of: /`([a-z.-]+)`/).map { String($0.1) }) == codes[status] ?? [], "\(status)")
        }
    }

    @Test("a locked vault is an M-Pin STORAGE_ERROR, and nothing is lost by it (MPIN 8)")
    func locked() async throws {
        let server = try await FakeBackEnd.start()
        let backend = try await server.backend()
        let user = try await backend.user(.registered, at: server)
        try await backend.startAuthentication(user)
        await server.vault.lock()
        let requests = try await server.requests {
            #expect(
                await status { _ = try await backend.finishAuthentication(user, pin: MPinBackend.pin) }
                    == .storageError)
            #expect(await status { try await backend.deleteUser(user) } == .storageError)
        }
        #expect(requests.isEmpty)
        #expect(try await backend.user("alice").state == .registered)
    }
}
