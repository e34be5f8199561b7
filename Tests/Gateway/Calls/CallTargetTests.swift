import Groundwork
import HTTPClient
import Testing

@testable import Gateway

@Suite("Target of a call")
struct CallTargetTests {
    private let gateway = GatewayIdentity(host: "gw.lab.test", port: 8443, prefix: "test")

    @Test("a call to a path goes below the gateway's address")
    func path() throws {
        let target = try CallTarget.resolve("/lab/hello?x=1", at: gateway)
        #expect(target.url == "https://gw.lab.test:8443/test/lab/hello?x=1")
        #expect(target.host == "gw.lab.test" && target.port == 8443)
    }

    @Test("a call to an https URL goes where it says, with its port")
    func absolute() throws {
        #expect(
            try CallTarget.resolve("https://Other.test/a", at: gateway)
                == HTTPSAddress(
                    host: "other.test", port: 443, path: "/a"))
        #expect(try CallTarget.resolve("https://Other.test/a", at: gateway).url == "https://other.test:443/a")
        #expect(try CallTarget.resolve("https://other.test:9443?q", at: gateway).url == "https://other.test:9443/?q")
        #expect(try CallTarget.resolve("https://192.0.2.7/", at: gateway).host == "192.0.2.7")
        #expect(try CallTarget.resolve("https://7.example/", at: gateway).host == "7.example")
    }

    @Test(
        "a call is refused when its text could mean another host or another request (MAG checklist 31)",
        arguments: [
            "", "lab/hello", "//evil.test/", "@evil.test/", ".evil.test", "http://gw.lab.test/",
            "https://gw.lab.test@evil.test/",
            "https://gw.lab.test:8443:1/", "/a b", "/a\r\nX: y", "/a#b", "/\u{e9}", "https://", "https://-a.test/",
            "/a\\b",
            "https://7/", "https://1.2.3/", "https://127.0.0.01/", "https://0x7f.1/", "https://1.2.3.256/",
            "https://a.0X1/",
            "/" + String(repeating: "a", count: HTTPSAddress.lengthLimit),
        ])
    func refused(text: String) {
        #expect { try CallTarget.resolve(text, at: gateway) } throws: {
            ($0 as? GatewayError)?.code == "gateway.path-invalid"
        }
    }
}
