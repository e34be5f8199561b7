import Testing

@testable import Gateway

@Suite("Form of a gateway's waiting log-ins")
struct ProviderFormTests {
    private let gateway = GatewayIdentity(host: "gw.lab.test", port: 8443, prefix: "")
    private let id = "7b3f00aa7b3f00aa7b3f00aa7b3f00aa"
    private let base = "https://gw.lab.test:8443"

    private func identifier(in url: String, of own: String) throws -> String? {
        try ProviderForm(of: base + own, at: gateway).identifier(in: ProviderURL(base + url, at: gateway))
    }

    @Test("a waiting log-in's URL is known by one example, except for the identifier of the session")
    func segment() throws {
        let own = "/auth/device/authorization/\(id)"
        #expect(try identifier(in: "/auth/device/authorization/0123456789abcdef", of: own) == "0123456789abcdef")
        #expect(try identifier(in: own, of: own) == id)
        for other in [
            "/auth/device/authorization/0123456789abcde",
            "/auth/device/authorization/\(String(repeating: "a", count: 129))",
            "/auth/device/authorization", "/auth/device/authorization/\(id)/poll",
            "/auth/device/authorization/\(id)?a=b",
            "/auth/device/authorization/\(id)?", "/auth/device/authorization/\(id);a=b",
            "/auth/device/authorization/\(id)%3D",
            "/Auth/device/authorization/\(id)", "/connect/device/authorization/\(id)", "/\(id)",
            "/auth/\(id)/authorization/\(id)",
        ] {
            #expect(try identifier(in: other, of: own) == nil, "\(other)")
        }
    }

    @Test("a waiting log-in's identifier may stand in the query, and the rest must be as it was")
    func parameter() throws {
        let own = "/auth/qrcode/authorization?sessionID=\(id)&v=2"
        #expect(
            try identifier(in: "/auth/qrcode/authorization?sessionID=0123456789-abcdef_&v=2", of: own)
                == "0123456789-abcdef_")
        for other in [
            "/auth/qrcode/authorization", "/auth/qrcode/authorization?sessionID=\(id)",
            "/auth/qrcode/authorization?v=2&sessionID=\(id)",
            "/auth/qrcode/authorization?sessionID=\(id)&v=3", "/auth/qrcode/authorization?sessionid=\(id)&v=2",
            "/auth/qrcode/authorization?sessionID=\(id)&v=2&to=mallory", "/lab/echo?sessionID=\(id)&v=2",
            "/auth/qrcode/authorization?sessionID=a%26to=b%26cccccccccc&v=2",
        ] {
            #expect(try identifier(in: other, of: own) == nil, "\(other)")
        }
    }

    @Test("a waiting log-in's URL is refused without an identifier, or outside the gateway")
    func without() {
        for own in ["\(base)/auth/qrcode", "\(base)/auth/qrcode?sessionID=7b", "https://evil.test/auth/\(id)"] {
            #expect(throws: GatewayError.self) { try ProviderForm(of: own, at: gateway) }
        }
    }
}
