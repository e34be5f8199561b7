import Groundwork
import Testing

@testable import Gateway

@Suite("The claims of a caller's own")
struct OwnClaimsTests {
    private func fault(_ name: String, _ value: JSON) -> OwnClaims.Fault? {
        do throws(GatewayError) {
            _ = try BodySigning(claims: [name: value])
            return nil
        } catch {
            guard case .unsignable(.claimNotAllowed(name, let fault)) = error else { return nil }
            #expect(error.explanation.gateway?.number == 170_002)
            return fault
        }
    }

    @Test("claims of a caller's own may be any but those that say what is signed, each of its type (170002)")
    func types() {
        let allowed: [(String, JSON)] = [
            ("iss", "a"), ("sub", "a"), ("jti", "a"), ("aud", "https://a/b"), ("aud", ["a", "b"]), ("exp", 1),
            ("iat", .number(1.5)), ("nbf", 253_402_300_799), ("Content", 1), ("Iss", 1), ("site", .null),
        ]
        for (name, value) in allowed { #expect(fault(name, value) == nil, "\(name)") }
        let refused: [(String, JSON, OwnClaims.Fault)] = [
            ("", "a", .unnamed), ("content", "a", .ofContent), ("content-type", "a", .ofContent), ("iss", 1, .notText),
            ("sub", .null, .notText), ("jti", ["a"], .notText), ("aud", [], .notAudience),
            ("aud", ["a", 1], .notAudience),
            ("aud", 1, .notAudience), ("exp", "1", .notTime), ("iat", -1, .notTime), ("nbf", 253_402_300_800, .notTime),
            ("exp", .number(1e300), .notTime),
        ]
        for (name, value, expected) in refused { #expect(fault(name, value) == expected, "\(name)") }
    }

    @Test("a claim of a caller's own is not made twice: as a claim and by a parameter of its own")
    func twice() throws {
        let claims: [String: JSON] = ["aud": "a", "exp": 2, "nbf": 1]
        for (name, make) in [
            ("aud", { try BodySigning(claims: claims, audience: "b") }),
            ("exp", { try BodySigning(claims: claims, lifetime: 60) }),
            ("nbf", { try BodySigning(claims: claims, notBefore: 3) }),
        ] as [(String, () throws -> BodySigning)] {
            #expect(throws: GatewayError.unsignable(.claimNotAllowed(name: name, fault: .twice))) { try make() }
        }
        #expect(try BodySigning(claims: claims).claims.values == claims)
    }
}
