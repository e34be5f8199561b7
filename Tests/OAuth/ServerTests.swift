import HTTPClient
import OAuth
import Testing

@Suite("Server metadata")
struct ServerMetadataTests {
    private func metadata(_ text: String) throws -> ServerMetadata { try ServerMetadata(Array(text.utf8)) }

    @Test("server metadata has the addresses that the server names, and reports missing ones")
    func addresses() throws {
        let metadata = try metadata(
            #"""
            {"issuer":"https://as.example","token_endpoint":"https://as.example/token","jwks_uri":"/keys","scopes_supported":["a"],
             "revocation_endpoint":"","userinfo_endpoint":7}
            """#)
        #expect(metadata.issuer == "https://as.example" && metadata[.token] == "https://as.example/token")
        #expect(try metadata.required(.keys) == "/keys")
        #expect(metadata[.revocation] == nil && metadata[.userInfo] == nil)
        #expect(throws: AnswerFault("it has no revocation_endpoint")) { try metadata.required(.revocation) }
    }

    @Test(
        "server metadata is refused if it is not an object, or an address could break a request",
        arguments: [
            "", "[]", "<html>", #"{"token_endpoint":"https://as.example/\r\nX: y"}"#, #"{"issuer":"a b"}"#,
        ])
    func refused(text: String) { #expect(throws: AnswerFault.self) { try metadata(text) } }
}

@Suite("Refusals in the words of OAuth")
struct OAuthRefusalTests {
    private func response(_ status: Int, _ body: String) -> HTTPResponse {
        HTTPResponse(status: status, body: Array(body.utf8))
    }

    @Test(
        "OAuth refusals concern the client, the grant, or neither",
        arguments: [
            (401, "invalid_client", RefusalSubject.client), (400, "invalid_grant", .grant),
            (400, "unauthorized_client", .grant),
            (400, "invalid_scope", .grant), (400, "something_new", .grant), (400, "authorization_pending", .passing),
            (400, "slow_down", .passing), (503, "temporarily_unavailable", .passing), (500, "invalid_grant", .passing),
            (429, "invalid_request", .passing),
        ])
    func subjects(status: Int, error: String, subject: RefusalSubject) throws {
        guard case .refused(let refusal, let found) = OAuthRefusals().judge(response(status, #"{"error":"\#(error)"}"#))
        else {
            Issue.record("\(error) is not a refusal")
            return
        }
        #expect(found == subject)
        #expect(refusal.status == status && refusal.error == error)
    }

    @Test("OAuth refusals keep the server's words, on one line and bounded")
    func words() throws {
        let text = "a\\nb" + String(repeating: "x", count: 1000)
        let refusal = try #require(
            OAuthRefusals().refusal(
                in: response(400, #"{"error":"invalid_grant","error_description":"\#(text)"}"#)))
        #expect(refusal.code == .invalidGrant)
        #expect(refusal.text?.hasPrefix("a bx") == true && refusal.text?.count == RefusalWords.limit)
    }

    @Test(
        "OAuth refusals do not include a proxy's answer or a success",
        arguments: [
            (502, "<html>"), (400, ""), (400, "{}"), (400, #"{"error":""}"#), (400, #"{"error":7}"#), (400, "[]"),
            (302, #"{"code":"c"}"#),
        ])
    func notFromServer(status: Int, body: String) {
        guard case .notFromServer = OAuthRefusals().judge(response(status, body)) else {
            Issue.record("\(body) was taken for the server's word")
            return
        }
    }

    @Test("a successful answer is judged as a token, or as one that cannot be used, not as OAuth refusal")
    func success() {
        guard case .granted = OAuthRefusals().judge(response(200, #"{"access_token":"a","token_type":"Bearer"}"#)),
            case .unusable = OAuthRefusals().judge(response(200, #"{"access_token":7,"error":"invalid_grant"}"#))
        else {
            Issue.record("a success was judged as something else")
            return
        }
    }
}

@Suite("Secrets of OAuth in an answer")
struct EchoTests {
    @Test("OAuth secrets in an answer are removed, including those of a server's own")
    func removed() {
        var request = HTTPRequest(
            "POST", "https://as.example/token?token=query-token",
            body: Array(
                "client_assertion=jwt-text&device_code=dev-code&own=own-secret&kept=kept-value".utf8))
        request.headers.set("Authorization", "Bearer access-token")
        request.headers.set("X-Own", "header-secret")
        let answer = Array("query-token jwt-text dev-code own-secret kept-value access-token header-secret".utf8)
        #expect(
            String(decoding: SecretEchoes.oauth.removed(from: answer, of: request), as: UTF8.self)
                == "*** *** *** own-secret kept-value *** header-secret")
        let own = SecretEchoes.oauth.with(fields: ["own"], headers: ["x-own"])
        #expect(
            String(decoding: own.removed(from: answer, of: request), as: UTF8.self)
                == "*** *** *** *** kept-value *** ***")
    }
}
