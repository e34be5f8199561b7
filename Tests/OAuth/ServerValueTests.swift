import Cryptography
import Foundation
import Groundwork
import HTTPClient
import Testing

@testable import OAuth

@Suite("Values of OAuth servers")
struct ServerValueTests {
    @Test("polling waits and ends as the server says (RFC 8628 section 3.5, OAMMS checklist 97)")
    func polling() {
        var polling = DevicePolling(interval: 5)
        #expect(polling.next(after: .authorizationPending) == .wait(5))
        #expect(polling.next(after: .slowDown) == .wait(10))
        #expect(polling.next(after: .authorizationPending) == .wait(10))
        // Nobody answers: twice the time, each time, up to five minutes.
        #expect(polling.next(after: nil) == .wait(20) && polling.next(after: nil) == .wait(40))
        for _ in 0..<8 { _ = polling.next(after: nil) }
        #expect(polling.next(after: nil) == .wait(300))
        #expect(polling.next(after: .authorizationPending) == .wait(10))
        #expect(polling.next(after: .expiredToken) == .expired && polling.next(after: .accessDenied) == .denied)
        #expect(polling.next(after: .invalidGrant) == .refused)
    }

    @Test("a device authorization answer is bounded, and its address is one of the web")
    func deviceAnswer() throws {
        func answer(_ changes: [String: JSON?] = [:]) throws -> DeviceAuthorization {
            var members: [String: JSON] = [
                "device_code": "d", "user_code": "ABCD EFGH", "verification_uri": "https://id.example/device",
                "expires_in": 600,
            ]
            for (name, value) in changes { members[name] = value }
            return try DeviceAuthorization(JSON.object(members).bytes)
        }
        #expect(try answer().interval == 5)
        #expect(try answer(["interval": 0]).interval == 1 && answer(["interval": 1e9]).interval == 300)
        #expect(try answer(["expires_in": 1e12]).lifetime == DeviceAuthorization.lifetimeLimit)
        let wrong: [(String, JSON?)] = [
            ("device_code", nil), ("user_code", "A\u{1B}[2J"), ("user_code", nil), ("expires_in", nil),
            ("expires_in", -1), ("verification_uri", "javascript:alert(1)"),
            ("verification_uri_complete", "file:///etc/passwd"), ("verification_uri", nil),
        ]
        for (name, value) in wrong {
            #expect(throws: AnswerFault.self, "\(name)") { try answer([name: value]) }
        }
    }

    private func entry(_ value: String, _ scope: String, life: TimeInterval = 100, refresh: String? = nil)
        -> TokenList.Entry
    {
        .init(
            access: HeldToken(
                value: SecretBytes(utf8: value), lifetime: life, scope: scope, at: Date(timeIntervalSince1970: 0),
                uptime: .zero),
            refresh: refresh.map { SecretBytes(utf8: $0) })
    }

    @Test("the smallest valid token that includes a scope serves it, until shortly before its end")
    func tokenList() {
        var list = TokenList()
        list.add(entry("wide", "a b c", refresh: "r"), at: .zero)
        list.add(entry("narrow", "a"), at: .zero)
        func value(_ scope: Set<String>, at seconds: Int = 0) -> String? {
            list.valid(for: scope, at: .seconds(seconds))?.access.value.exposedText()
        }
        #expect(value(["a"]) == "narrow" && value(["b"]) == "wide" && value([]) == "narrow" && value(["d"]) == nil)
        #expect(value(["a"], at: 90) == "narrow" && value(["a"], at: 91) == nil)
        #expect(list.refreshable(for: ["a"])?.access.value.exposedText() == "wide")
        // What has ended goes with the next, unless it can be refreshed.
        list.add(entry("later", "d", life: 1000), at: .seconds(200))
        #expect(list.entries.map(\.scope) == [["a", "b", "c"], ["d"]])
        list.drop(access: SecretBytes(utf8: "wide"))
        list.drop(access: SecretBytes(utf8: "later"))
        #expect(list.entries.map(\.scope) == [["a", "b", "c"]] && value(["a"]) == nil)
        for number in 0..<40 { list.add(entry("t", "s\(number)", refresh: "r"), at: .zero) }
        #expect(list.entries.count == TokenList.limit)
    }

    @Test("a token that cannot be refreshed does not displace one that can")
    func displaced() {
        var list = TokenList()
        list.add(entry("old", "a", refresh: "r"), at: .zero)
        list.add(entry("new", "a b"), at: .zero)
        #expect(list.refreshable(for: ["a"])?.access.value.exposedText() == "old")
        let former = list.entries[0]
        list.add(entry("renewed", "a", refresh: "r2"), inPlaceOf: former, at: .zero)
        #expect(list.refreshable(for: ["a"])?.refresh == SecretBytes(utf8: "r2") && list.entries.count == 2)
    }

    @Test("an id and secret are encoded before Basic (RFC 6749 section 2.3.1, OAMMS checklist 92, 93)")
    func basic() async throws {
        var request = HTTPRequest("POST", "https://id.example/token")
        try await ClientProof.basic(SecretBytes(utf8: "s:ä")).fill(
            &request, client: "b:1", form: FormBody([("grant_type", "x")]), secrets: [], audience: "", now: Date())
        let header = try #require(request.headers.first("Authorization"))
        #expect(Base64.decode(String(header.dropFirst(6))) == Array("b%3A1:s%3A%C3%A4".utf8))
        #expect(request.body == Array("grant_type=x".utf8))
        var open = HTTPRequest("POST", "https://id.example/token")
        try await ClientProof.none.fill(
            &open, client: "b:1", form: FormBody(), secrets: [], audience: "", now: Date())
        #expect(open.headers.first("Authorization") == nil && open.body == Array("client_id=b%3A1".utf8))
    }

    @Test("keys of P-256 and RSA are written as JWKs that are read again", arguments: [JWS.Algorithm.ES256, .RS256])
    func keys(algorithm: JWS.Algorithm) throws {
        let key = try PrivateKey(generating: algorithm == .ES256 ? .p256 : .rsa(bits: 2048))
        let jwk = JSONWebKey.json(of: key.publicKey, id: "k", algorithm: algorithm)
        let set = try KeySet(JSON.object(["keys": [jwk]]).bytes)
        #expect(
            set["k"] == key.publicKey && set.candidates(of: "k") == [key.publicKey] && set.candidates(of: "other") == []
        )
        let two = try KeySet(JSON.object(["keys": [jwk, jwk]]).bytes)
        #expect(two.candidates(of: nil) == [key.publicKey, key.publicKey])
        // A key for encryption has signed nothing.
        let encryption = jwk.object?.merging(["use": "enc"]) { $1 } ?? [:]
        #expect(try KeySet(JSON.object(["keys": [.object(encryption)]]).bytes)["k"] == nil)
    }

    @Test("an id_token is not accepted with a signature that its server does not use")
    func otherAlgorithm() throws {
        let key = try PrivateKey(generating: .p256)
        let set = try KeySet(
            JSON.object(["keys": [JSONWebKey.json(of: key.publicKey, id: "k", algorithm: .ES256)]]).bytes)
        let claims: JSON = ["aud": "c", "exp": 4_000_000_000]
        let token = try JWS.sign(claims.bytes, algorithm: .ES256, key: .key(key), keyID: "k")
        let client = ClientAuthentication(id: "c", secret: SecretBytes([]), expires: nil)
        #expect(throws: IDTokenFault.algorithmUnsupported("ES256")) {
            try IDTokenValidation(client: client, now: Date(), algorithms: [.HS256, .RS256]).validate(token, keys: set)
        }
        _ = try IDTokenValidation(client: client, now: Date(), algorithms: [.ES256]).validate(token, keys: set)
    }
}
