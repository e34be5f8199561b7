import Testing

@testable import Gateway

@Suite("Additional hosts")
struct HostSecurityTests {
    @Test("need something that proves them, a name and a port (MAG 1.3)")
    func refused() throws {
        for make in [
            { try HostSecurity(host: "h.test", port: 443) },
            { try HostSecurity(host: "https://h.test", port: 443, usesPublicAnchors: true) },
            { try HostSecurity(host: "h.test", port: 0, usesPublicAnchors: true) },
        ] as [() throws -> HostSecurity] {
            #expect { try make() } throws: { ($0 as? GatewayError)?.localCode == 100_211 }
        }
        #expect(try HostSecurity(host: "H.test", port: 443, usesPublicAnchors: true).host == "h.test")
    }
}
