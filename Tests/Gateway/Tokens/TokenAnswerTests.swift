import Cryptography
import Foundation
import HTTPClient
import Testing

@testable import Gateway

@Suite("Token answer")
struct TokenAnswerTests {
    private func answer(_ text: String) throws -> TokenAnswer { try TokenAnswer(Array(text.utf8)) }

    @Test("gives token, life, scope and what else there is")
    func complete() throws {
        let answer = try answer(
            #"{"access_token":"at-1","token_type":"Bearer","expires_in":3600,"refresh_token":"rt-1","scope":"a b","id_token":"x.y.z"}"#)
        #expect(answer.accessToken == SecretBytes(utf8: "at-1"))
        #expect(answer.lifetime == 3600)
        #expect(answer.scope == "a b")
        #expect(answer.refreshToken == SecretBytes(utf8: "rt-1"))
        #expect(answer.idToken == SecretBytes(utf8: "x.y.z"))
        #expect(answer.idTokenType == HeldIDToken.jwtBearer)
    }

    @Test("has its life as a number or a string, and 0 without one (quirk Q27)", arguments: [
        (#""3600""#, 3600), ("3600.0", 3600), ("0", 0), ("-5", 0), ("null", 0), (#""x""#, 0), ("1e300", TokenAnswer.lifetimeLimit),
    ])
    func lifetime(text: String, seconds: TimeInterval) throws {
        #expect(try answer(#"{"access_token":"a","token_type":"bearer","expires_in":\#(text)}"#).lifetime == seconds)
    }

    @Test("is refused when it is not bearer, empty, or could break a header (checklist 21)", arguments: [
        #"{"access_token":"a","token_type":"mac"}"#, #"{"access_token":"a"}"#, #"{"access_token":"","token_type":"bearer"}"#,
        #"{"token_type":"bearer"}"#, #"{"access_token":"a\r\nX: y","token_type":"bearer"}"#, "<html>", "",
        #"{"access_token":5,"token_type":"bearer"}"#, #"{"access_token":"a","token_type":"bearer","refresh_token":"a b"}"#,
    ])
    func refused(text: String) { #expect(throws: AnswerFault.self) { try answer(text) } }
}

@Suite("Access token")
struct HeldTokenTests {
    private let noon = Date(timeIntervalSince1970: 1_800_000_000)

    @Test("of this run ends by the clock that nobody sets")
    func monotonic() {
        let token = HeldToken(value: SecretBytes(utf8: "t"), lifetime: 60, scope: "", at: noon, uptime: .seconds(1000))
        #expect(token.isValid(at: .seconds(1060)))
        #expect(!token.isValid(at: .seconds(1061)))
        // A wall clock that jumps only changes the date at which the end is shown.
        #expect(token.token(at: noon + 86_400, uptime: .seconds(1010)).expiresAt == noon + 86_450)
    }

    @Test("of an earlier run ends by its age; from the future it has ended", arguments: [
        (30.0, true), (60, true), (61, false), (-1, false), (1e9, false),
    ])
    func restart(age: TimeInterval, isValid: Bool) {
        let token = HeldToken(
            value: SecretBytes(utf8: "t"), lifetime: 60, scope: "", receivedAt: noon - age, at: noon, uptime: .seconds(5))
        #expect(token.isValid(at: .seconds(5)) == isValid)
    }
}

@Suite("Scope")
struct ScopeTests {
    private func requested(_ configured: String?, adding: String? = nil, sso: Bool = true, credentials: Bool = true) -> String {
        Scope.requested(
            configured: configured, additional: adding, standard: "openid", singleSignOn: sso, addsSession: credentials)
    }

    @Test("asked for follows 5.1")
    func rules() {
        #expect(requested(nil) == "openid msso")
        #expect(requested("openid msso a") == "openid msso a")
        #expect(requested("openid a", sso: false) == "openid a")
        #expect(requested("openid msso a", sso: false) == "openid a")
        #expect(requested("openid msso msso_register a") == "openid msso a")
        #expect(requested("openid a", credentials: false) == "openid a")
        #expect(requested("openid msso a", adding: "b a") == "openid msso a b")
    }

    @Test("granted suffices without the words of the session (5.2)")
    func sufficient() {
        #expect(Scope.suffices("a b", for: "openid msso a"))
        #expect(Scope.suffices("", for: nil))
        #expect(!Scope.suffices("openid a", for: "a b"))
    }
}

@Suite("Grants")
struct GrantTests {
    private func situation(
        refresh: String? = nil, idToken: Date? = nil, sso: Bool = true, adding: String? = nil
    ) throws -> GrantSituation {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        return GrantSituation(
            configuration: try GatewayConfiguration(
                parsing: Documents.document { $0.set("mag.mobile_sdk.sso_enabled", to: sso) }), now: now,
            refreshToken: refresh.map { SecretBytes(utf8: $0) },
            idToken: idToken.map { HeldIDToken(value: SecretBytes(utf8: "i"), type: HeldIDToken.jwtBearer, expires: $0) },
            additionalScope: adding)
    }

    @Test("apply when there is what they need, and single sign-on is on for the id_token (checklist 20)")
    func applicability() throws {
        let tomorrow = Date(timeIntervalSince1970: 1_800_086_400)
        #expect(RefreshTokenGrant().request(try situation()) == nil)
        #expect(RefreshTokenGrant().request(try situation(refresh: "r"))?.scope == nil)
        // A refresh cannot widen the scope.
        #expect(RefreshTokenGrant().request(try situation(refresh: "r", adding: "more")) == nil)
        #expect(IDTokenGrant().request(try situation()) == nil)
        #expect(IDTokenGrant().request(try situation(idToken: tomorrow))?.type == HeldIDToken.jwtBearer)
        #expect(IDTokenGrant().request(try situation(idToken: tomorrow, sso: false)) == nil)
        #expect(IDTokenGrant().request(try situation(idToken: tomorrow - 172_800)) == nil)
        #expect(ClientCredentialsGrant().request(try situation())?.fields.isEmpty == true)
    }

    @Test("leave a refusal about the client to the recovery table and go on after any other (5.3)", arguments: [
        (3_003_107, GrantConsequence.Step.fail), (3_003_115, .fail), (3_003_201, .fail), (3_003_206, .fail),
        (3_003_113, .nextGrant), (3_003_000, .nextGrant), (3_003_993, .nextGrant),
    ])
    func consequences(code: Int, step: GrantConsequence.Step) {
        let refusal = Refusal(operation: .obtainToken, status: 400, code: code)
        #expect(RefreshTokenGrant().consequence(of: refusal) == GrantConsequence(step: step))
        #expect(IDTokenGrant().consequence(of: refusal) == GrantConsequence(step: step, dropsIDToken: step == .nextGrant))
        #expect(ClientCredentialsGrant().consequence(of: refusal).step == .fail)
    }
}

extension GrantRequest: Equatable {
    public static func == (one: GrantRequest, other: GrantRequest) -> Bool {
        one.type == other.type && one.scope == other.scope && one.fields.map(\.name) == other.fields.map(\.name)
    }
}
