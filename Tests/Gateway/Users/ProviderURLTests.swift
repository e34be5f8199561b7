import Groundwork
import Testing

@testable import Gateway

@Suite("URL of a log-in to authorize")
struct ProviderURLTests {
    private let bare = GatewayIdentity(host: "gw.lab.test", port: 8443, prefix: "")
    private let prefixed = GatewayIdentity(host: "gw.lab.test", port: 8443, prefix: "mag/v2")

    @Test(
        "a URL to authorize is called by what follows the gateway's own address (MAG 7.3)",
        arguments: [
            ("https://gw.lab.test:8443/auth/device/authorization/7b", "/auth/device/authorization/7b"),
            ("HTTPS://GW.lab.test:8443/auth/x", "/auth/x"),
            ("https://gw.lab.test.:8443/auth/x", "/auth/x"),
            ("https://gw.lab.test:8443/auth/qrcode?sessionID=7b&a=%2F..", "/auth/qrcode?sessionID=7b&a=%2F.."),
            (
                " \n{\n  \"provider_url\" : \"https://gw.lab.test:8443\\/auth\\/x\",\n \"device_name\":\"d\"}\n",
                "/auth/x"
            ),
            ("https://gw.lab.test:8443/auth/a%3Db", "/auth/a%3Db"),
        ])
    func accepted(text: String, path: String) throws { #expect(try ProviderURL(text, at: bare).path == path) }

    @Test("a URL to authorize is called below the gateway's prefix, and may leave out the standard port")
    func places() throws {
        #expect(try ProviderURL("https://gw.lab.test:8443/mag/v2/auth/x", at: prefixed).path == "/auth/x")
        let standard = GatewayIdentity(host: "gw.lab.test", port: 443, prefix: "")
        #expect(try ProviderURL("https://gw.lab.test/auth/x", at: standard).path == "/auth/x")
        #expect(try ProviderURL("https://gw.lab.test:443/auth/x", at: standard).path == "/auth/x")
    }

    @Test(
        "a URL to authorize is refused for every other origin (MAG checklist 36)",
        arguments: [
            "http://gw.lab.test:8443/auth/x", "ftp://gw.lab.test:8443/auth/x", "//gw.lab.test:8443/auth/x", "/auth/x",
            "https://gw.lab.test/auth/x", "https://gw.lab.test:443/auth/x", "https://gw.lab.test:08443/auth/x",
            "https://gw.lab.test:+8443/auth/x", "https://gw.lab.test:/auth/x", "https://gw.lab.test:8443:8443/auth/x",
            "https://gw.lab.test..:8443/auth/x", "https://.gw.lab.test:8443/auth/x",
            "https://gw.lab.test.evil.test:8443/auth/x",
            "https://evil.test:8443/https://gw.lab.test:8443/auth/x", "https://gw.lab.test:8443@evil.test/auth/x",
            "https://user@gw.lab.test:8443/auth/x", "https://gw.lab.test%2eevil.test:8443/x",
            "https://gw.lab.test:8443.evil.test/x",
            "https:/gw.lab.test:8443/auth/x", "https://gw.lab.test:8443", "https://gw.lab.test:8443?/auth/x",
            "https://[::1]:8443/auth/x", #"{"provider_url":"https://evil.test:8443/auth/x"}"#, "https:///auth/x",
        ])
    func foreign(text: String) {
        #expect(throws: GatewayError.providerURLForeign(gateway: bare)) { try ProviderURL(text, at: bare) }
    }

    @Test(
        "a URL to authorize is refused outside the gateway's prefix",
        arguments: [
            "https://gw.lab.test:8443/auth/x", "https://gw.lab.test:8443/mag/v2",
            "https://gw.lab.test:8443/mag/v22/auth/x",
            "https://gw.lab.test:8443/MAG/v2/auth/x", "https://gw.lab.test:8443/mag%2Fv2/auth/x",
        ])
    func outside(text: String) {
        #expect(throws: GatewayError.providerURLForeign(gateway: prefixed)) { try ProviderURL(text, at: prefixed) }
    }

    @Test(
        "a URL to authorize is refused where two readers could see two paths, or none",
        arguments: [
            "", " ", "{}", #"{"provider_url":7}"#, #"{"provider_url":""}"#, "{", "https://gw.lab.test:8443/",
            "https://gw.lab.test:8443/auth/../connect", "https://gw.lab.test:8443/auth/.",
            "https://gw.lab.test:8443//auth",
            "https://gw.lab.test:8443/auth//x", "https://gw.lab.test:8443/auth/x/",
            "https://gw.lab.test:8443/auth/%2e%2e/x",
            "https://gw.lab.test:8443/%53CIM", "https://gw.lab.test:8443/auth%2Fx", "https://gw.lab.test:8443/a%5Cb",
            "https://gw.lab.test:8443/a%0d%0aX:y", "https://gw.lab.test:8443/a%2", "https://gw.lab.test:8443/a%zz",
            "https://gw.lab.test:8443/a%252e", "https://gw.lab.test:8443/a b", "https://gw.lab.test:8443/a\r\nX: y",
            "https://gw.lab.test:8443/a\\b", "https://gw.lab.test:8443/a#b", "https://gw.lab.test:8443/\u{e9}",
            "https://gw.lab.test:8443/" + String(repeating: "a", count: ProviderURL.limit),
        ])
    func invalid(text: String) {
        #expect { try ProviderURL(text, at: bare) } throws: {
            ($0 as? GatewayError)?.code == "gateway.provider-url-invalid"
        }
    }
}
