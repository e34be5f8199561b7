import Cryptography
import HTTPClient
import Testing

@testable import Gateway
@testable import OAuth

@Suite("Answers on the way to an authorization code")
struct AuthorizationAnswerTests {
    private let proof = ProofKey(verifier: SecretBytes(utf8: "verifier-1"), state: SecretBytes(utf8: "state-1"))

    private func session(_ text: String) throws -> AuthorizationSession {
        try AuthorizationAnswer.session(Array(text.utf8), proof: proof, clientID: "c900")
    }

    private func poll(_ text: String) throws -> AuthorizationCode? {
        switch try AuthorizationAnswer.poll(Array(text.utf8), proof: proof) {
        case .pending: nil
        case .code(let code): code
        }
    }

    @Test("an authorization answer names the providers, and which is for another device (MAG 7.1)")
    func providers() throws {
        let session = try session(
            #"""
            {"idp":"all","providers":[
             {"provider":{"id":"enterprise","auth_url":"https://gw.lab.test:8443/enterprise/login?sessionID=7b"}},
             {"provider":{"id":"QRcode","auth_url":"https://gw.lab.test:8443/auth/device/authorization/7b",
              "poll_url":"https://gw.lab.test:8443/auth/device/authorization/7b/poll"}}]}
            """#)
        #expect(session.idp == "all" && session.providers.map(\.id) == ["enterprise", "QRcode"])
        #expect(
            session.proximity
                == AuthenticationProvider(
                    id: "QRcode", authURL: "https://gw.lab.test:8443/auth/device/authorization/7b",
                    pollURL: "https://gw.lab.test:8443/auth/device/authorization/7b/poll"))
    }

    @Test("providers without https URLs are left out, and without a poll URL no other device can log in")
    func incomplete() throws {
        let session = try session(
            #"""
            {"idp":"all","providers":[7,{},{"provider":{"id":"a"}},{"provider":{"id":"b","auth_url":"http://gw.lab.test/b"}},
             {"provider":{"id":"qrcode","auth_url":"https://gw.lab.test/q","poll_url":"http://gw.lab.test/q/poll"}}]}
            """#)
        #expect(
            session.providers == [AuthenticationProvider(id: "qrcode", authURL: "https://gw.lab.test/q", pollURL: nil)])
        #expect(session.proximity == nil)
    }

    @Test(
        "an authorization answer is refused without idp or list",
        arguments: [
            "", "[]", "{}", #"{"idp":"all"}"#, #"{"providers":[]}"#, #"{"idp":7,"providers":[]}"#,
            #"{"idp":"all","providers":{}}"#,
        ])
    func refused(text: String) { #expect(throws: AnswerFault.self) { try session(text) } }

    @Test(
        "an authorization answer is pending without a code, in every way to say so (MAG 7.3)",
        arguments: [
            "", "{}", #"{"code":"","state":""}"#, #"{"code":null}"#, #"{"state":"another"}"#,
        ])
    func pending(text: String) throws { #expect(try poll(text) == nil) }

    @Test(
        "an authorization answer names the providers that the gateway wants for a browser (MAG 7.1)",
        arguments: [
            ("all", ["enterprise", "Google"], true), ("enterprise", ["enterprise"], true),
            ("google", ["Google"], false),
            ("ALL", ["enterprise", "Google"], true), ("linkedin", [], false),
        ] as [(String, [String], Bool)])
    func choice(idp: String, names: [String], takesPasswords: Bool) throws {
        let list = ["enterprise", "Google", "QRCode"].map { #"{"provider":{"id":"\#($0)","auth_url":"https://gw/a"}}"# }
        let session = try session(#"{"idp":"\#(idp)","providers":[\#(list.joined(separator: ","))]}"#)
        #expect(session.browserProviders.map(\.id) == names && session.takesPasswords == takesPasswords)
    }

    @Test("an authorization answer gives its first 64 providers, and is refused beyond any answer's length")
    func hostileList() throws {
        func answer(_ count: Int) -> String {
            let list = (0..<count).map { #"{"provider":{"id":"p\#($0)","auth_url":"https://gw/a"}}"# }
            return #"{"idp":"all","providers":[\#(list.joined(separator: ","))]}"#
        }
        #expect(try session(answer(4000)).providers.map(\.id) == (0..<64).map { "p\($0)" })
        #expect(throws: AnswerFault.self) { try session(answer(10_000)) }
    }

    @Test("an authorization answer leads to the login page, or gives the gateway's reason (MAG 7.2)")
    func page() throws {
        let page = "https://gw.lab.test:8443/auth/oauth/v2/authorize/login?action=display&sessionID=7b"
        #expect(try AuthorizationAnswer.page(page) == page)
        for location in [nil, "", "http://gw.lab.test/login", "latchkey://callback?error=invalid_request&state=s"] {
            #expect(throws: AnswerFault.self) { try AuthorizationAnswer.page(location) }
        }
        let refused = "latchkey://callback?error=invalid_request&error_description=bad+PKCE&x-ca-err=3000112&state=s"
        #expect {
            try AuthorizationAnswer.page(refused)
        } throws: {
            guard case .refused(let refusal)? = $0 as? GatewayError else { return false }
            return refusal.code == 3_000_112 && refusal.text == "bad PKCE"
        }
    }

    @Test("an authorization answer gives a code that came with our state (MAG checklist 33)")
    func code() throws {
        let code = try #require(try poll(#"{"code":"c-1","state":"state-1","more":[]}"#))
        #expect(code.value.exposedText() == "c-1" && code.state == proof.state)
    }

    @Test(
        "an old gateway that returns no state gives a code for the verifier of this session",
        arguments: [#"{"code":"c-1"}"#, #"{"code":"c-1","state":null}"#])
    func withoutState(text: String) throws {
        let code = try #require(try poll(text))
        #expect(code.value.exposedText() == "c-1" && code.isFor(proof))
    }

    @Test(
        "an authorization answer gives no code that came with another state, or an empty one",
        arguments: [
            #"{"code":"c","state":"state-2"}"#, #"{"code":"c","state":""}"#, #"{"code":"c","state":[]}"#,
            #"{"code":"c","state":7}"#,
            #"{"code":"c","state":"state-1 "}"#,
        ])
    func otherState(text: String) {
        #expect(throws: GatewayError.authorizationStateMismatch) { try poll(text) }
        #expect(GatewayError.authorizationStateMismatch.localCode == 131_001)
    }

    @Test(
        "an authorization answer gives no code that does not fit into a header",
        arguments: [
            "[]", "<html>", "7", #"{"code":7,"state":"state-1"}"#, #"{"code":"a\r\nb","state":"state-1"}"#,
            #"{"code":["c"],"state":"state-1"}"#,
        ])
    func noCode(text: String) { #expect(throws: AnswerFault.self) { try poll(text) } }
}

@Suite("Scope of an authorization session")
struct AuthorizationScopeTests {
    @Test(
        "an authorization session's scope has msso_register for a code that registers (MAG 7.1, MAG checklist 34)",
        arguments: [
            ("openid msso msso_register a", true, false, "openid msso a"),
            ("openid msso a", true, true, "openid msso a msso_register"),
            ("a", true, true, "a openid msso_register"), (nil, true, false, "openid"),
            ("openid msso a", false, false, "openid a"),
        ] as [(String?, Bool, Bool, String)])
    func scope(configured: String?, singleSignOn: Bool, registers: Bool, expected: String) {
        #expect(
            GatewayScope.authorization(configured: configured, singleSignOn: singleSignOn, registers: registers)
                == expected)
    }
}
