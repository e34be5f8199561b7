import Cryptography
import TestSupport
import Testing

@testable import Messaging

@Suite("The URL of a proxy for MQTT")
struct BrokerProxyTests {
    @Test(
        "the URL of a proxy may lack all but the host",
        arguments: [
            ("http://proxy:3128", "proxy:3128", nil, nil), ("proxy.example", "proxy.example:1080", nil, nil),
            ("HTTP://10.0.0.1:80/", "10.0.0.1:80", nil, nil),
            ("http://[fe80::1%eth0]:8080", "[fe80::1%eth0]:8080", nil, nil),
            ("http://u@p:1", "p:1", "u", nil), ("http://u%40b:a%3Ab:c@p", "p:1080", "u@b", "a:b:c"),
            ("http://u:@p", "p:1080", "u", ""),
        ] as [(String, String, String?, String?)])
    func accepted(url: String, address: String, user: String?, password: String?) throws {
        let proxy = try BrokerProxy(url: url)
        #expect(proxy.description == address && proxy.user == user)
        #expect(proxy.password?.exposedText() == password)
    }

    @Test(
        "the URL of a proxy is refused for what it must not have",
        arguments: [
            ("https://proxy", BrokerProxy.Fault.scheme), ("socks5h://proxy", .scheme), ("http://", .host),
            ("http://a b", .host), ("http://a\r\nb", .host), ("http://ä", .host), ("http://[proxy]", .host),
            ("http://[::1", .host), ("http://p:0", .port), ("http://p:65536", .port), ("http://p:", .port),
            ("http://p:+1", .port), ("http://[::1]x", .port), ("http://p/path", .rest), ("http://p?q", .rest),
            ("http://:x@p", .user), ("http://u%3Av:x@p", .user), ("http://u:%0d%0a@p", .user), ("http://%ff@p", .user),
            ("http://u:%4@p", .user), ("http://\(String(repeating: "a", count: 1024))", .tooLong),
        ])
    func refused(url: String, fault: BrokerProxy.Fault) {
        #expect(throws: fault) { try BrokerProxy(url: url) }
    }

    @Test("a proxy gets user and password as RFC 7617 section 2 says")
    func authorization() throws {
        let proxy = try BrokerProxy(url: "http://Aladdin:open%20sesame@p")
        #expect(proxy.authorization.map { String(decoding: $0, as: UTF8.self) } == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        let other = try BrokerProxy(url: "http://Aladdin@p", password: SecretBytes(utf8: "open sesame"))
        #expect(other.authorization == proxy.authorization)
        #expect(try BrokerProxy(url: "http://p").authorization == nil)
    }
}
