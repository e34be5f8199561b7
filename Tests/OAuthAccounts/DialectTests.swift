import Cryptography
import Foundation
import Groundwork
import HTTPClient
import OAuth
import Synchronization
import TestSupport
import Testing

@testable import OAuthAccounts

@Suite("Dialects of OAuth servers", .timeLimit(.minutes(8)))
struct DialectTests {
    @Test("a code of a device is shown with the address that its draft called verification_url")
    func verificationURL() async throws {
        var device = ChosenServer.device
        device["verification_url"] = device.removeValue(forKey: "verification_uri")
        let (server, account) = try await ChosenServer.canned(["POST /device": ["json": .object(device)]])
        let begun = try await account.beginDevice()
        #expect(begun.verificationURI == server.base + "/activate")
        _ = try await account.awaitDevice(begun)
        #expect(try await account.token().value.exposedText() == "ACCESS-1")
    }

    @Test("an error with status 200 is a refusal: pending is waited for")
    func pendingWithSuccess() async throws {
        let pending: JSON = ["json": ["error": "authorization_pending"]]
        let (server, account) = try await ChosenServer.canned([
            "POST /token": [pending, pending, ["json": .object(ChosenServer.token)]]
        ])
        try await account.logInByDevice()
        #expect(try await server.count("POST /token") == 3)
    }

    @Test("an error with status 200 is a refusal: denial ends the login, and a code is not given")
    func deniedWithSuccess() async throws {
        let (server, account) = try await ChosenServer.canned([
            "POST /token": ["json": ["error": "access_denied", "error_description": "the person said no"]]
        ])
        await #expect(throws: OAuthAccountError.deviceDenied) { try await account.logInByDevice() }
        try await server.can(["POST /token": ["status": 400, "json": ["error": "authorization_declined"]]])
        await #expect(throws: OAuthAccountError.deviceDenied) { try await account.logInByDevice() }
        try await server.can(["POST /device": ["json": ["error": "device_flow_disabled"]]])
        let refusal = OAuthRefusal(status: 200, error: "device_flow_disabled", text: nil)
        await #expect(throws: OAuthAccountError.refused(endpoint: "device_authorization_endpoint", refusal)) {
            try await account.beginDevice()
        }
    }

    // MARK: id_tokens

    /// Answers with an id_token that this key signed.
    private func answers(
        _ server: ChosenServer, keys: [PrivateKey], signer: PrivateKey, id: String? = nil, claims: [String: JSON] = [:]
    ) throws -> [String: JSON] {
        let base: [String: JSON] = ["iss": .string(server.base), "aud": "board-7", "sub": "u1", "exp": 4_102_444_800]
        let token = try JWS.sign(
            JSON.object(base.merging(claims) { $1 }).bytes, algorithm: .RS256, key: .key(signer), keyID: id)
        let published = keys.enumerated().map { index, key in
            JSONWebKey.json(of: key.publicKey, id: "key-\(index)", algorithm: .RS256)
        }
        var answer = ChosenServer.token
        answer["id_token"] = .string(token)
        return ["POST /token": ["json": .object(answer)], "GET /keys": ["json": ["keys": .array(published)]]]
    }

    @Test("an id_token that names no key is tried with each published key of its kind")
    func noKeyID() async throws {
        let keys = try [
            PrivateKey(generating: .p256), PrivateKey(generating: .rsa(bits: 2048)),
            PrivateKey(generating: .rsa(bits: 2048)),
        ]
        let (server, account) = try await ChosenServer.canned(scope: "openid")
        try await server.can(try answers(server, keys: keys, signer: keys[2]))
        #expect(try await account.logInByDevice().subject == "u1")
        let (other, refused) = try await ChosenServer.canned(scope: "openid")
        try await other.can(try answers(other, keys: Array(keys.prefix(2)), signer: keys[2]))
        await #expect(throws: OAuthAccountError.idTokenInvalid(reason: "no published key has signed it")) {
            try await refused.logInByDevice()
        }
    }

    @Test("an id_token of another issuer or client is refused with both names")
    func otherClaims() async throws {
        let key = try PrivateKey(generating: .rsa(bits: 2048))
        let (server, account) = try await ChosenServer.canned(scope: "openid")
        for (claims, reason) in [
            (["iss": "https://other.example"], "its iss is https://other.example, not \(server.base)"),
            (["aud": "board-8"], "its aud is board-8, not board-7"),
        ] as [([String: JSON], String)] {
            try await server.can(try answers(server, keys: [key], signer: key, claims: claims))
            await #expect(throws: OAuthAccountError.idTokenInvalid(reason: reason)) {
                try await account.logInByDevice()
            }
        }
    }

    @Test("a server that signs id_tokens in no way that can be verified is refused before anybody logs in")
    func unknownAlgorithm() async throws {
        let server = try await ChosenServer.start()
        let description = ChosenServer.description(["id_token_signing_alg_values_supported": ["ES256K", "HS512"]])
        try await server.can(description: description)
        await #expect(throws: OAuthAccountError.idTokenUnsupported(algorithms: ["ES256K", "HS512"])) {
            try await server.cannedAccount(scope: "openid")
        }
        // Without OpenID Connect there is none to verify.
        let account = try await server.cannedAccount(scope: "orders")
        var answer = ChosenServer.token
        let header = Base64.encode(Array(#"{"alg":"ES256K"}"#.utf8), alphabet: .urlSafe)
        answer["id_token"] = .string(header + ".e30.e30")
        try await server.can(["POST /token": ["json": .object(answer)]], description: description)
        await #expect(throws: OAuthAccountError.idTokenUnsupported(algorithms: ["ES256K"])) {
            try await account.logInByDevice()
        }
    }

    // MARK: Answers on their way

    @Test("an answer that a proxy has compressed is read, within the limit of its decoded size")
    func gzip() async throws {
        var description = try #require(ChosenServer.description().object)
        description["gzip"] = true
        let (server, account) = try await ChosenServer.canned(description: .object(description))
        try await account.logInByDevice()
        try await server.can([
            "POST /token": ["text": .string(String(repeating: "x", count: 600_000)), "gzip": true]
        ])
        await #expect(throws: HTTPError.responseTooLarge(url: "\(server.base)/token", limit: JSONAnswer.limit)) {
            try await account.logInByDevice()
        }
        try await server.can(["POST /token": ["text": "x", "headers": ["Content-Encoding": "own"]]])
        await #expect(throws: HTTPError.bodyUndecodable(url: "\(server.base)/token")) {
            try await account.logInByDevice()
        }
    }

    // MARK: Retry-After

    private func code(_ work: () async throws -> Void) async -> String? {
        do {
            try await work()
            return nil
        } catch {
            return Explanation(of: error).code
        }
    }

    @Test("a poll for a device waits as long as the server says")
    func retryAfterPoll() async throws {
        let (server, account) = try await ChosenServer.canned([
            "POST /token": [
                ["status": 429, "headers": ["Retry-After": "4"], "text": "too many requests"],
                ["json": .object(ChosenServer.token)],
            ]
        ])
        let took = try await ContinuousClock().measure { try await account.logInByDevice() }
        #expect(took > .seconds(4.5))
        #expect(try await server.count("POST /token") == 2)
    }

    @Test("no request goes to an endpoint before the time that its server named, whoever asks")
    func retryAfterRefresh() async throws {
        let (server, account) = try await ChosenServer.canned()
        var answer = ChosenServer.token
        answer["refresh_token"] = "REFRESH-1"
        let busy: JSON = ["status": 429, "headers": ["Retry-After": "60"], "text": "too many requests"]
        try await server.can(["POST /token": [["json": .object(answer)], busy]])
        try await account.logInByDevice()
        let accounts = server.accounts(ahead: 7200)
        let later = try #require(try await accounts.account("cloud"))
        for _ in 0..<3 {
            #expect(await code { _ = try await later.token() } == "oauth.not-yet")
            #expect(await code { _ = try await later.beginDevice() } == nil)
        }
        #expect(try await server.count("POST /token") == 2)
        #expect(await later.lastFailure?.error.message.contains("token_endpoint accepts no request before") == true)
        // The other accounts of the board, and those that are to be made.
        try await server.can(description: ["status": 503, "headers": ["Retry-After": "60"], "text": "busy"])
        var configuration = ServerConfiguration()
        (configuration.issuer, configuration.clientID) = (server.base, "board-7")
        for _ in 0..<3 {
            #expect(
                await code { _ = try await accounts.add("other", configuration, registration: nil) } == "oauth.not-yet")
        }
        #expect(try await server.count(ChosenServer.well) == 2)
    }

    @Test(
        "Retry-After is a number of seconds or a date, an hour at most, and only of an answer that refuses by it",
        arguments: [
            (429, "10", 10.0), (503, "Fri, 15 Jan 2027 08:00:30 GMT", 30), (429, "1e9", 3600), (429, "0", nil),
            (503, "-5", nil), (429, "soon", nil), (429, "Fri, 15 Jan 2027 07:59:59 GMT", nil), (200, "10", nil),
            (429, "nan", nil),
        ] as [(Int, String, Double?)])
    func retryAfterValue(status: Int, text: String, seconds: Double?) {
        let response = HTTPResponse(status: status, headers: ["Retry-After": text])
        let noon = Date(timeIntervalSince1970: 1_800_000_000)
        #expect(ServerClient.pause(after: response, now: noon) == seconds)
    }

    // MARK: Lives of tokens

    @Test("a token without an end, or with an end of 0 seconds, is used and has no end that is told")
    func noExpiry() async throws {
        for expiry in [nil, 0] as [JSON?] {
            var answer = ChosenServer.token
            answer["expires_in"] = expiry
            let (server, account) = try await ChosenServer.canned(["POST /token": ["json": .object(answer)]])
            try await account.logInByDevice()
            let token = try await account.token()
            #expect(token.value.exposedText() == "ACCESS-1" && !token.isEndKnown)
            #expect(await account.tokens().map(\.lifeLeft) == [nil])
            #expect(try await server.count("POST /token") == 1)
        }
        let (server, account) = try await ChosenServer.canned()
        try await account.logInByDevice()
        #expect(try await server.count("POST /token") == 1)
        #expect(try await account.token().isEndKnown)
        #expect(await account.tokens().first?.lifeLeft.map { $0 > 3500 } == true)
    }

    @Test("a refresh token that is refused after a lost answer is told so, once as an event, until somebody logs in")
    func lostAnswer() async throws {
        let (server, account) = try await ChosenServer.canned()
        var answer = ChosenServer.token
        answer["refresh_token"] = "REFRESH-1"
        let first: JSON = ["json": .object(answer)]
        try await server.can([
            "POST /token": [
                first, ["status": 504, "text": "no answer in time"],
                ["status": 400, "json": ["error": "invalid_grant", "error_description": "it was used before"]], first,
            ]
        ])
        try await account.logInByDevice()
        let told = Mutex<[OAuthAccountError]>([])
        // The answer is remembered as lost across restarts, and so is the refusal.
        func reopened() async throws -> OAuthAccount {
            let accounts = server.accounts(ahead: 7200) { name, error in
                if name == "cloud" { told.withLock { $0.append(error) } }
            }
            return try #require(try await accounts.account("cloud"))
        }
        await #expect(throws: OAuthAccountError.noAnswer(endpoint: "token_endpoint", status: 504)) {
            try await reopened().token()
        }
        let refused = OAuthAccountError.refreshRefused(
            account: "cloud", error: "invalid_grant", text: "it was used before", afterLostAnswer: true)
        for _ in 0..<3 { await #expect(throws: refused) { try await reopened().token() } }
        #expect(told.withLock { $0 } == [refused])
        let later = try await reopened()
        try await later.logInByDevice()
        #expect(try await later.token().value.exposedText() == "ACCESS-1")
        await #expect(throws: OAuthAccountError.loginRequired(account: "cloud")) { try await later.token(scope: "c") }
    }
}
