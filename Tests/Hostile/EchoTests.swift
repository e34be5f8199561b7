import HTTPClient
import Testing

@testable import Gateway

@Suite("Secrets repeated by a gateway")
struct EchoTests {
    @Test("a repeated secret is masked in the refusal's text, as it was sent and as it was typed")
    func marked() {
        var request = HTTPRequest(
            "POST", "https://localhost/token?token=query-token&a=kept",
            body: Array(
                "grant_type=password&username=alice&password=correct%20horse&client_secret=s3cr3t&code=abc".utf8))
        request.headers.set("Authorization", "Bearer access-token")
        request.headers.set("client-authorization", "Basic Ym9hcmQ6YmFzaWMtc2VjcmV0")
        let answer =
            "alice, correct%20horse or 'correct horse' with s3cr3t, access-token, query-token, basic-secret; kept, password, abc"
        #expect(
            String(decoding: GatewayExchange.echoes.removed(from: Array(answer.utf8), of: request), as: UTF8.self)
                == "alice, *** or '***' with ***, ***, ***, ***; kept, password, abc")
    }
    @Test("a repeated secret is masked completely if another secret is its prefix, however often it is repeated")
    func overlapping() {
        let request = HTTPRequest(
            "POST", "https://localhost/token", body: Array("password=horse&client_secret=horse-and-cart".utf8))
        let answer = Array(String(repeating: "horse-and-cart horse ", count: 50_000).utf8)
        #expect(
            GatewayExchange.echoes.removed(from: answer, of: request)
                == Array(String(repeating: "*** *** ", count: 50_000).utf8))
    }
}
