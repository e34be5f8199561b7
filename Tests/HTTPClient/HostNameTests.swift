import Testing

@testable import HTTPClient

@Suite("Names and addresses of hosts")
struct HostNameTests {
    @Test(
        "a host has one spelling",
        arguments: [
            ("GW.Example", "gw.example"), ("127.0.0.1", "127.0.0.1"), ("2001:DB8:0:0::1", "[2001:db8::1]"),
            ("[2001:db8::1]", "[2001:db8::1]"), ("::", "[::]"), ("::FFFF:192.0.2.1", "[::ffff:192.0.2.1]"),
        ])
    func canonical(text: String, host: String) {
        #expect(HostName.canonical(text) == host)
        #expect(HostName.canonical(host) == host)
    }

    @Test(
        "a host is no zone, no bracketed name, no other notation of an address",
        arguments: [
            "fe80::1%eth0", "[fe80::1%25eth0]", "[gw.example]", "[127.0.0.1]", "[::1", "::1]", "1:2", ":::", "127.1",
            "0x7f.0.0.1", "", "[]", "::1\u{0}",
        ])
    func refused(text: String) { #expect(HostName.canonical(text) == nil) }

    @Test(
        "an IPv6 address in a URL is in brackets, before a port or not",
        arguments: [
            ("https://[2001:DB8::1]:8443/a", "[2001:db8::1]", 8443, "https://[2001:db8::1]:8443/a"),
            ("https://[::1]?a", "[::1]", 443, "https://[::1]:443/?a"),
        ])
    func url(text: String, host: String, port: Int, whole: String) throws {
        let address = try HTTPSAddress(text)
        #expect((address.host, address.port) == (host, port))
        #expect(address.url == whole)
        #expect(WebAddress(text)?.origin == "https://\(host):\(port)")
    }

    @Test(
        "a URL is refused with a zone, without brackets, or with more than an address in them",
        arguments: [
            "https://[fe80::1%25eth0]/", "https://2001:db8::1/", "https://[::1]x/", "https://[::1]:/",
            "https://[::1]:0/", "https://[gw.example]/", "https://[::1/", "https://[::1]@gw.example/",
            "https://gw.example:[::1]/",
        ])
    func refusedURL(text: String) {
        #expect(throws: AddressFault.self) { try HTTPSAddress(text) }
        #expect(WebAddress(text) == nil)
    }
}
