import Testing

@testable import Gateway

@Suite("Additional hosts")
struct HostSecurityTests {
    @Test("an additional host needs something that proves it, a name and a port (MAG 1.3)")
    func refused() throws {
        for (number, make) in [
            (100_212, { try HostSecurity(host: "h.test", port: 443) }),
            (100_211, { try HostSecurity(host: "https://h.test", port: 443, usesPublicAnchors: true) }),
            (100_211, { try HostSecurity(host: "h.test", port: 0, usesPublicAnchors: true) }),
        ] as [(Int, () throws -> HostSecurity)] {
            #expect { try make() } throws: { ($0 as? GatewayError)?.localCode == number }
        }
        #expect(try HostSecurity(host: "H.test", port: 443, usesPublicAnchors: true).host == "h.test")
    }
}
