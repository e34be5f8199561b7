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

    @Test("write name and password as RFC 7617 shows, in UTF-8")
    func basic() throws {
        #expect(try credentials().basic == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(try credentials("test", "123\u{a3}").basic == "Basic dGVzdDoxMjPCow==")
    }

    @Test(
        "are not made of names and passwords that no request can carry",
        arguments: [
            ("", "p"), ("a:b", "p"), ("a\nb", "p"), ("a\u{85}", "p"), (String(repeating: "a", count: 257), "p"),
            ("alice", ""),
            ("alice", String(repeating: "p", count: 1025)),
        ])
    func unusable(name: String, password: String) {
        #expect { try credentials(name, password) } throws: {
            ($0 as? GatewayError)?.code == "gateway.user-credentials-unusable"
        }
    }

    @Test("register by password with the headers of 4.3, under the user's name", arguments: [true, false])
    func password(createsSession: Bool) throws {
        let request = request(.password(try credentials(), createsSession: createsSession))
        #expect(request.headers.first("authorization") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(request.headers.first("create-session") == (createsSession ? "true" : "false"))
        #expect(request.headers.first("client-authorization") == "Basic Yzpz")
        #expect(request.headers.first("code-verifier") == nil && request.headers.first("redirect-uri") == nil)
        #expect(request.subject[.commonName] == "Aladdin" && request.voucher.endpoint == .registerUser)
    }

    @Test("register by code with verifier and redirect URI, as socialLogin (MAG 4.1, 4.3)")
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

    @Test("keep the common name within 64 characters (RFC 5280)")
    func longName() throws {
        let voucher = RegistrationVoucher.password(
            try credentials(String(repeating: "ä", count: 100)), createsSession: true)
        #expect(voucher.commonName.unicodeScalars.count == 64)
    }

    @Test("ask for tokens by password and by code with the fields of 5.1, and never for msso_register")
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

    @Test("are answered with exactly one id_token where a session was asked for (MAG checklist 14)")
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
