import HTTPClient
import Testing

@Suite("A redirect on the loopback interface (RFC 8252)")
struct LoopbackRedirectTests {
    @Test(
        "a loopback redirect takes the port of the program that waits, where the gateway leaves it open",
        arguments: [
            ("http://127.0.0.1/done", "http://127.0.0.1:4711/done"), ("http://localhost", "http://localhost:4711"),
            ("HTTP://[::1]/a?b", "http://[::1]:4711/a?b"), ("http://127.0.0.1:80/done", "http://127.0.0.1:80/done"),
            ("https://127.0.0.1/done", "https://127.0.0.1/done"), ("latchkey://callback", "latchkey://callback"),
            ("http://127.0.0.1.evil.example/", "http://127.0.0.1.evil.example/"),
            ("http://localhost@evil.example/", "http://localhost@evil.example/"),
        ])
    func port(configured: String, expected: String) {
        #expect(LoopbackRedirect.address(configured, port: 4711) == expected)
        #expect(LoopbackRedirect.address(configured, port: nil) == configured)
    }

    @Test("a loopback redirect says on which interface a program has to wait")
    func interface() {
        #expect(LoopbackRedirect.isIPv6("http://[::1]:4711/done") && LoopbackRedirect.isIPv6("http://[::1]"))
        for other in ["http://127.0.0.1/done", "http://localhost/", "https://[::1]/", "http://[::1].evil.example/", ""]
        {
            #expect(!LoopbackRedirect.isIPv6(other))
        }
    }

    @Test("a loopback redirect is heard only as a GET of its own path with a query")
    func request() {
        func answer(_ head: String, _ redirectURI: String = "http://127.0.0.1:80/done") -> String? {
            LoopbackRedirect.answer(in: Array(head.utf8), redirectURI: redirectURI)
        }
        #expect(
            answer("GET /done?code=a&state=b HTTP/1.1\r\nHost: x\r\n\r\n") == "http://127.0.0.1:80/done?code=a&state=b")
        #expect(answer("GET /?code=a HTTP/1.0\r\n\r\n", "http://localhost:80") == "http://localhost:80?code=a")
        for head in [
            "", "GET", "GET /done HTTP/1.1\r\n\r\n", "GET /other?code=a HTTP/1.1\r\n\r\n",
            "POST /done?code=a HTTP/1.1\r\n\r\n", "GET /done?code=a HTTP/2\r\n\r\n", "GET /done?a b HTTP/1.1\r\n\r\n",
            "GET /done?" + String(repeating: "a", count: LoopbackRedirect.limit) + " HTTP/1.1\r\n\r\n",
        ] { #expect(answer(head) == nil) }
        #expect(answer("GET /done?code=a HTTP/1.1\r\n\r\n", "latchkey://callback") == nil)
    }
}
