import Cryptography
import Foundation
import Groundwork
import HTTPClient
import Testing

@testable import Gateway
@testable import OAuth

@Suite("Requests in a user's name")
struct UserRequestTests {
    private func credentials(_ name: String = "Aladdin", _ password: String = "open sesame") throws -> UserCredentials {
        try UserCredentials(name: name, password: SecretBytes(utf8: password))
    }

    private func request(_ voucher: RegistrationVoucher) -> RegistrationRequest {
        RegistrationRequest(
            deviceID: "d", device: DeviceDescription(name: "n", model: "m"), organization: "o",
            credentials: ClientCredentials(
                masterID: "m",
                authentication: ClientAuthentication(id: "c", secret: SecretBytes(utf8: "s"), expires: nil),
                isStatic: false), voucher: voucher)
    }

    @Test("a user's requests write name and password as RFC 7617 shows, in UTF-8")
    func basic() throws {
        #expect(try credentials().basic == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(try credentials("test", "123\u{a3}").basic == "Basic dGVzdDoxMjPCow==")
    }

    @Test(
        "a user's requests are not made of names and passwords that no request can carry",
        arguments: [
            ("", "p"), ("a\nb", "p"), ("a\u{85}", "p"), (String(repeating: "a", count: 257), "p"),
            ("alice", ""),
            ("alice", String(repeating: "p", count: 1025)),
        ])
    func unusable(name: String, password: String) {
        #expect { try credentials(name, password) } throws: {
            ($0 as? GatewayError)?.code == "gateway.user-credentials-unusable"
        }
    }

    @Test(
        "a user's registration by password has the headers of MAG 4.3, under the user's name", arguments: [true, false])
    func password(createsSession: Bool) throws {
        let request = request(.password(try credentials(), createsSession: createsSession))
        #expect(request.headers.first("authorization") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(request.headers.first("create-session") == (createsSession ? "true" : "false"))
        #expect(request.headers.first("client-authorization") == "Basic Yzpz")
        #expect(request.headers.first("code-verifier") == nil && request.headers.first("redirect-uri") == nil)
        #expect(request.subject[.commonName] == "Aladdin" && request.voucher.endpoint == .registerUser)
    }

    @Test("a user's registration by code has verifier and redirect URI, as socialLogin (MAG 4.1, 4.3)")
    func code() {
        let request = request(
            .code(
                SecretBytes(utf8: "c-1"), verifier: SecretBytes(utf8: "v-1"), redirectURI: "latchkey://callback"))
        #expect(request.headers.first("authorization") == "Bearer c-1")
        #expect(request.headers.first("code-verifier") == "v-1")
        #expect(request.headers.first("redirect-uri") == "latchkey://callback")
        #expect(
            request.headers.first("create-session") == "true" && request.headers.first("x-authorization-type") == nil)
        #expect(request.subject[.commonName] == "socialLogin")
    }

    @Test("a user registers by code without a verifier, and by JWT with its type, as socialLogin (MAG 4.3)")
    func outside() throws {
        let code = request(
            .code(SecretBytes(utf8: "c-1"), verifier: nil, redirectURI: nil, createsSession: false))
        #expect(code.headers.first("authorization") == "Bearer c-1" && code.headers.first("code-verifier") == nil)
        #expect(code.headers.first("create-session") == "false")
        let token = request(.assertion(try UserAssertion("a.b.c"), createsSession: true))
        #expect(token.headers.first("authorization") == "Bearer a.b.c")
        #expect(token.headers.first("x-authorization-type") == "urn:ietf:params:oauth:grant-type:jwt-bearer")
        #expect(token.headers.first("create-session") == "true" && token.subject[.commonName] == "socialLogin")
        #expect(token.voucher.endpoint == .registerUser)
    }

    @Test("a name with a colon goes into a form, and into no registration (RFC 7617 section 2)")
    func colon() throws {
        let logIn = Login.password(try credentials("LAB:alice"))
        #expect {
            try logIn.voucher(singleSignOn: true, redirectURI: nil)
        } throws: {
            ($0 as? GatewayError)?.code == "gateway.user-credentials-unusable"
        }
        let grants = GatewayGrants(configuration: try GatewayConfiguration(parsing: Documents.document { _ in }))
        #expect(grants.of(logIn).request.fields.first?.value.exposedText() == "LAB:alice")
    }

    @Test(
        "a user's registrations are not made of codes and tokens that no header can carry",
        arguments: [
            ("", nil, nil), ("a b", nil, nil), (String(repeating: "a", count: 1025), nil, nil), ("c", "short", nil),
            ("c", nil, "http://a b"),
        ] as [(String, String?, String?)])
    func unusableCode(code: String, verifier: String?, redirectURI: String?) {
        #expect {
            try HandedCode(code, verifier: verifier, redirectURI: redirectURI)
        } throws: {
            ($0 as? GatewayError)?.code == "gateway.user-credentials-unusable"
        }
    }

    @Test(
        "a user's token requests are not made of bad tokens, nor of a grant type of the board's own",
        arguments: [
            ("", nil), ("a b", nil), (String(repeating: "a", count: 8193), nil), ("a.b.c", "client_credentials"),
            ("a.b.c", "urn: x"),
        ] as [(String, String?)])
    func unusableToken(token: String, type: String?) {
        #expect {
            try UserAssertion(token, type: type)
        } throws: {
            ($0 as? GatewayError)?.code == "gateway.user-credentials-unusable"
        }
    }

    @Test("a user's registration keeps the common name within 64 characters (RFC 5280)")
    func longName() throws {
        let voucher = RegistrationVoucher.password(
            try credentials(String(repeating: "ä", count: 100)), createsSession: true)
        #expect(voucher.commonName.unicodeScalars.count == 64)
    }

    @Test("a user's token requests have the fields of MAG 5.1, and never ask for msso_register")
    func grants() throws {
        let grants = GatewayGrants(
            configuration: try GatewayConfiguration(
                parsing: Documents.document {
                    $0.set("oauth.client.client_ids.0.scope", to: "openid msso msso_register")
                    $0.set("oauth.client.client_ids.0.redirect_uri", to: "r")
                }))
        let password = grants.of(.password(try credentials())).request
        #expect(password.type == "password" && password.scope == "openid msso")
        #expect(password.fields.map(\.name) == ["username", "password"])
        let session = AuthorizationSession(
            idp: "all", providers: [], proof: ProofKey(verifier: SecretBytes(utf8: "v"), state: SecretBytes(utf8: "s")),
            clientID: "c")
        let code = grants.of(.code(SecretBytes(utf8: "c"), session)).request
        #expect(code.type == "authorization_code" && code.scope == "openid msso" && !code.spendsRefreshToken)
        #expect(
            code.fields.map { "\($0.name)=\($0.value.exposedText())" } == [
                "code=c", "code_verifier=v", "redirect_uri=r",
            ])
    }

    @Test("a user's requests are answered with exactly one id_token for a session (MAG checklist 14)")
    func session() throws {
        let complete: HTTPHeaders = ["ID-Token": "a.b.c", "id-token-type": HeldIDToken.jwtBearer]
        let session = try CertificateAnswer.session(HTTPResponse(status: 200, headers: complete))
        #expect(session.value.exposedText() == "a.b.c" && session.type == HeldIDToken.jwtBearer)
        var twice = complete
        twice.add("id-token", "d.e.f")
        let faulty: [HTTPHeaders] = [
            [:], ["id-token": "a"], ["id-token-type": "t"], ["id-token": "", "id-token-type": "t"], twice,
        ]
        for headers in faulty {
            #expect(throws: AnswerFault.self) {
                try CertificateAnswer.session(HTTPResponse(status: 200, headers: headers))
            }
        }
    }
}
