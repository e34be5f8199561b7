import Cryptography
import Foundation
import Groundwork
import HTTPClient
import Testing

@testable import OAuth

@Suite("Grants of OAuth")
struct GrantTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func fields(_ request: GrantRequest) -> [String] {
        request.fields.map { "\($0.name)=\($0.value.exposedText())" }
    }

    @Test("OAuth grants send the fields of their RFC, and nothing without a value")
    func requests() {
        let password = PasswordGrant(userName: "alice", password: SecretBytes(utf8: "p"), scope: "a").request
        #expect(
            password.type == "password" && password.scope == "a"
                && fields(password) == ["username=alice", "password=p"])
        let code = AuthorizationCodeGrant(
            code: SecretBytes(utf8: "c"), verifier: SecretBytes(utf8: "v"), redirectURI: nil, scope: nil
        ).request
        #expect(
            code.type == "authorization_code" && code.scope == nil && fields(code) == ["code=c", "code_verifier=v"])
        let assertion = AssertionGrant(
            type: "urn:ietf:params:oauth:grant-type:saml2-bearer", assertion: SecretBytes(utf8: "s"), scope: "a"
        ).request
        #expect(
            assertion.type == "urn:ietf:params:oauth:grant-type:saml2-bearer" && fields(assertion) == ["assertion=s"])
        let client = ClientCredentialsGrant(scope: "a").request
        #expect(client.type == "client_credentials" && client.fields.isEmpty && client.scope == "a")
    }

    @Test("OAuth grants from a session apply only if it holds the token, and spend only the refresh token")
    func held() throws {
        #expect(RefreshTokenGrant(HeldTokens()) == nil)
        let tokens = HeldTokens(
            refresh: SecretBytes(utf8: "r"), id: HeldIDToken(value: SecretBytes(utf8: "i"), type: "t", expires: now))
        let refresh = try #require(RefreshTokenGrant(tokens)).request
        #expect(refresh.spendsRefreshToken && refresh.scope == nil && fields(refresh) == ["refresh_token=r"])
        #expect(RefreshTokenGrant(tokens, additionalScope: "more") == nil)
        let session = try #require(AssertionGrant(idTokenOf: tokens, at: now, scope: "a"))
        #expect(session.name == "id_token" && session.request.type == "t" && !session.request.spendsRefreshToken)
        #expect(AssertionGrant(idTokenOf: tokens, at: now + 1, scope: "a") == nil)
        #expect(AssertionGrant(idTokenOf: HeldTokens(), at: now, scope: "a") == nil)
    }

    @Test(
        "OAuth grants continue with the next after a refused grant, never after a refused client",
        arguments: [
            RefusalSubject.client, .grant, .passing,
        ])
    func consequences(subject: RefusalSubject) throws {
        let tokens = HeldTokens(
            refresh: SecretBytes(utf8: "r"), id: HeldIDToken(value: SecretBytes(utf8: "i"), type: "t", expires: nil))
        let step: GrantConsequence.Step = subject == .client ? .fail : .nextGrant
        #expect(try #require(RefreshTokenGrant(tokens)).consequence(of: subject) == GrantConsequence(step))
        #expect(
            try #require(AssertionGrant(idTokenOf: tokens, at: now, scope: nil)).consequence(of: subject)
                == GrantConsequence(step, dropsIDToken: subject != .client))
        let other = AssertionGrant(type: "t", assertion: SecretBytes(utf8: "a"), scope: nil)
        #expect(other.consequence(of: subject) == GrantConsequence(step))
        let last: [any Grant] = [
            ClientCredentialsGrant(scope: nil),
            PasswordGrant(userName: "a", password: SecretBytes(utf8: "p"), scope: nil),
        ]
        for grant in last { #expect(grant.consequence(of: subject) == GrantConsequence(.fail)) }
    }

    @Test("OAuth grants are sent with the client's id and secret, each encoded")
    func form() {
        let client = ClientAuthentication(id: "c 1", secret: SecretBytes(utf8: "s&1"), expires: nil)
        let form = client.form(GrantRequest(type: "t", fields: [("a", SecretBytes(utf8: "=ä"))], scope: "x y"))
        #expect(
            String(decoding: form, as: UTF8.self)
                == "grant_type=t&scope=x%20y&client_id=c%201&a=%3D%C3%A4&client_secret=s%261")
        #expect(
            String(decoding: client.form(GrantRequest(type: "t", scope: nil)), as: UTF8.self)
                == "grant_type=t&client_id=c%201&client_secret=s%261")
    }
}

@Suite("Client authentication")
struct ClientAuthenticationTests {
    @Test("client authentication expires at the second that the server named, or never")
    func expiry() {
        let end = Date(timeIntervalSince1970: 1_893_456_000)
        let client = ClientAuthentication(id: "c", secret: SecretBytes(utf8: "s"), expires: end)
        #expect(!client.isExpired(at: end) && client.isExpired(at: end + 1))
        let endless = ClientAuthentication(id: "c", secret: SecretBytes(utf8: "s"), expires: nil)
        #expect(!endless.isExpired(at: Date(timeIntervalSince1970: 4_000_000_000)))
        #expect(client.basic == "Basic Yzpz")
    }
}

@Suite("Proof key")
struct ProofKeyTests {
    @Test("a proof key is challenged as RFC 7636 appendix B shows")
    func challenge() {
        let proof = ProofKey(
            verifier: SecretBytes(utf8: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"), state: SecretBytes(utf8: ""))
        #expect(proof.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test("a proof key has 86 characters for the verifier, 22 for the state, and is never the same")
    func fresh() throws {
        let (one, other) = (try ProofKey(), try ProofKey())
        #expect(one.verifier.count == 86 && one.state.count == 22)
        #expect(one.verifier != other.verifier && one.state != other.state)
        #expect(one.verifier.exposed().allSatisfy { PercentEncoding.isUnreserved($0) })
    }

    @Test("a proof key is requested with challenge and state, and keeps its verifier (RFC 7636 section 4.3)")
    func request() {
        let proof = ProofKey(
            verifier: SecretBytes(utf8: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"), state: SecretBytes(utf8: "s-1"))
        let request = AuthorizationRequest(
            clientID: "c", scope: "openid a", redirectURI: "app://done", proof: proof, additional: [("display", "page")]
        )
        #expect(
            request.query.text == "client_id=c&response_type=code&display=page&scope=openid%20a"
                + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&state=s-1"
                + "&redirect_uri=app%3A%2F%2Fdone")
        let code = AuthorizationCode(code: SecretBytes(utf8: "x"), state: SecretBytes(utf8: "s-1"))
        #expect(code.isFor(proof))
        #expect(!AuthorizationCode(code: code.value, state: SecretBytes(utf8: "s-2")).isFor(proof))
    }
}
