import CCurl
import Groundwork
import TestSupport
import Testing

@testable import HTTPClient

@Suite("The proxy of the environment", .timeLimit(.minutes(5)))
struct ForwardProxyTests {
    private func address(_ variables: [String: String], to host: String = "gw.example") -> String? {
        ForwardProxy.forHTTPS(to: host) { variables[$0] }?.address
    }

    @Test("a proxy is known by the variables that libcurl reads, and shown without its user")
    func variables() {
        #expect(address([:]) == nil)
        #expect(address(["https_proxy": ""]) == nil)
        #expect(address(["https_proxy": "http://10.9.8.1:3128"]) == "10.9.8.1:3128")
        #expect(address(["HTTPS_PROXY": "http://user:secret@proxy.example:3128/"]) == "proxy.example:3128")
        #expect(address(["ALL_PROXY": "socks5h://proxy.example"]) == "proxy.example:1080")
        #expect(address(["all_proxy": "a:1", "https_proxy": "b:2"]) == "b:2")
        #expect(address(["https_proxy": "http://[2001:db8::1]:3128"]) == "[2001:db8::1]:3128")
        // libcurl has it for plain requests alone.
        #expect(address(["http_proxy": "http://10.9.8.1:3128"]) == nil)
    }

    @Test(
        "hosts of no_proxy are reached without",
        arguments: [
            ("*", true), ("gw.example", true), (".example", true), ("example", true), ("other, gw.example", true),
            ("GW.example.", true), ("ample", false), ("gw.example.com", false), ("", false), ("other,*", false),
        ])
    func exceptions(list: String, isDirect: Bool) {
        #expect((address(["https_proxy": "a:1", "no_proxy": list]) == nil) == isDirect)
    }

    @Test(
        "addresses and networks of no_proxy are reached without",
        arguments: [
            ("10.1.2.3", "10.0.0.0/8", true), ("11.1.2.3", "10.0.0.0/8", false), ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "gw.example 10.1.2.0/30", true), ("10.1.2.4", "10.1.2.0/30", false),
            ("10.1.2.3", "10.1.2.3/32", true), ("10.1.2.3", "10.1.2.3/33", false), ("10.1.2.3", "0.0.0.0/0", false),
            ("10.1.2.3", "10.0.0.0/", false), ("10.1.2.3", "10.0.0.0/x", false), ("10.1.2.3", "::/1", false),
            ("10.1.2.3", "2.3", false), ("10.1.2.3", "*", true),
            ("[fe80::1]", "fe80::/10", true), ("febf::1", "fe80::/10", true), ("[fec0::1]", "fe80::/10", false),
            ("[fe80::1]", "fe80:0::1", true), ("[fe80::1]", "[fe80::1]", false), ("[fe80::1]", "fe80::1/129", false),
            ("[::1]", "0.0.0.0/1", false),
            ("net.example", "10.0.0.0/8", false),
        ])
    func networks(host: String, list: String, isDirect: Bool) {
        #expect((address(["https_proxy": "a:1", "no_proxy": list], to: host) == nil) == isDirect)
    }

    @Test("a proxy that refuses is named with its status, and one that cannot be reached as itself")
    func diagnosis() throws {
        let target = try RequestDestination("https://gw.example/a")
        func error(_ status: CURLcode, _ proxyStatus: Int) -> HTTPError {
            Diagnosis(
                status: status, text: "", generalText: "refused", target: target, unixSocket: nil,
                hasConnected: false, hasBegunTLS: false, systemError: 0, refusal: nil, alert: nil,
                proxyStatus: proxyStatus, proxy: ForwardProxy(address: "proxy:3128", variable: "https_proxy")
            ).error
        }
        #expect(error(CURLE_RECV_ERROR, 403) == .proxyRefused(proxy: "proxy:3128", host: "gw.example", status: 403))
        #expect(
            error(CURLE_COULDNT_CONNECT, 0)
                == .cannotConnectToProxy(proxy: "proxy:3128", host: "gw.example", reason: "refused"))
        #expect(error(CURLE_PARTIAL_FILE, 200) != .proxyRefused(proxy: "proxy:3128", host: "gw.example", status: 200))
    }
}
