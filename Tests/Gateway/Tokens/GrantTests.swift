import Cryptography
import Foundation
import OAuth
import Testing

@testable import Gateway

@Suite("Scope at a gateway")
struct GatewayScopeTests {
    private func requested(_ configured: String?, adding: String? = nil, sso: Bool = true, credentials: Bool = true)
        -> String
    {
        GatewayScope.requested(
            configured: configured, additional: adding, standard: "openid", singleSignOn: sso, addsSession: credentials)
    }

    @Test("the scope asked for at a gateway follows MAG 5.1")
    func rules() {
        #expect(requested(nil) == "openid msso")
        #expect(requested("openid msso a") == "openid msso a")
        #expect(requested("openid a", sso: false) == "openid a")
        #expect(requested("openid msso a", sso: false) == "openid a")
        #expect(requested("openid msso msso_register a") == "openid msso a")
        #expect(requested("openid a", credentials: false) == "openid a")
        #expect(requested("openid msso a", adding: "b a") == "openid msso a b")
    }

    @Test("a granted scope suffices without the words of the session (MAG 5.2)")
    func sufficient() {
        #expect(GatewayScope.suffices("a b", for: "openid msso a"))
        #expect(GatewayScope.suffices("", for: nil))
        #expect(!GatewayScope.suffices("openid a", for: "a b"))
    }
}

@Suite("Grants at a gateway")
struct GrantTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func names(
        refresh: String? = nil, idToken: Date? = nil, sso: Bool = true, adding: String? = nil
    ) throws -> [String] {
        try grants(refresh: refresh, idToken: idToken, sso: sso, adding: adding).map(\.name)
    }

    private func grants(
        refresh: String? = nil, idToken: Date? = nil, sso: Bool = true, adding: String? = nil
    ) throws -> [any Grant] {
        let grants = GatewayGrants(
            configuration: try GatewayConfiguration(
                parsing: Documents.document { $0.set("mag.mobile_sdk.sso_enabled", to: sso) }), additionalScope: adding)
        let tokens = HeldTokens(
            refresh: refresh.map { SecretBytes(utf8: $0) },
            id: idToken.map { HeldIDToken(value: SecretBytes(utf8: "i"), type: HeldIDToken.jwtBearer, expires: $0) })
        return grants.ofBoard(tokens, at: now)
    }

    @Test("gateway grants apply when they have what they need, and single sign-on is on (MAG checklist 20)")
    func applicability() throws {
        let tomorrow = Date(timeIntervalSince1970: 1_800_086_400)
        #expect(try names() == ["client_credentials"])
        #expect(try names(refresh: "r", idToken: tomorrow) == ["refresh_token", "id_token", "client_credentials"])
        #expect(try grants(refresh: "r")[0].request.scope == nil)
        // A refresh cannot widen the scope.
        #expect(try names(refresh: "r", adding: "more") == ["client_credentials"])
        #expect(try grants(idToken: tomorrow)[0].request.type == HeldIDToken.jwtBearer)
        #expect(try names(idToken: tomorrow, sso: false) == ["client_credentials"])
        #expect(try names(idToken: tomorrow - 172_800) == ["client_credentials"])
        #expect(try grants()[0].request.fields.isEmpty)
    }

    @Test("gateway grants ask for the scopes of MAG 5.1, and a refresh for none")
    func scopes() throws {
        let scopes = try grants(refresh: "r", idToken: now).map(\.request.scope)
        #expect(scopes == [nil, "openid msso mas_messaging", "openid msso mas_messaging"])
        #expect(
            try grants(idToken: now, adding: "more").map(\.request.scope)
                == ["openid msso mas_messaging more", "openid msso mas_messaging more"])
    }

    @Test(
        "gateway grants leave a client's refusal to the recovery table and go on after others (MAG 5.3)",
        arguments: [
            (3_003_107, GrantConsequence.Step.fail), (3_003_115, .fail), (3_003_201, .fail), (3_003_206, .fail),
            (3_003_113, .nextGrant), (3_003_000, .nextGrant), (3_003_993, .nextGrant),
        ])
    func consequences(code: Int, step: GrantConsequence.Step) throws {
        let table = GatewayRefusals(operation: .obtainToken)
        let subject = table.subject(of: Refusal(operation: .obtainToken, status: 400, code: code))
        let grants = try grants(refresh: "r", idToken: now)
        #expect(grants[0].consequence(of: subject) == GrantConsequence(step))
        #expect(grants[1].consequence(of: subject) == GrantConsequence(step, dropsIDToken: step == .nextGrant))
        #expect(grants[2].consequence(of: subject).step == .fail)
    }

    @Test(
        "a gateway that failed, is busy or waits for an administrator refuses grants only in passing",
        arguments: [
            (500, 3_003_113, RefusalSubject.passing), (429, 3_003_113, .passing), (400, 3_003_108, .passing),
            (400, 3_003_135, .passing), (400, 3_003_113, .grant), (500, 3_003_201, .client),
        ])
    func subjects(status: Int, code: Int, subject: RefusalSubject) {
        let refusal = Refusal(operation: .obtainToken, status: status, code: code)
        #expect(GatewayRefusals(operation: .obtainToken).subject(of: refusal) == subject)
    }
}
