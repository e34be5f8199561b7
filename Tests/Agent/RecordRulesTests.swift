import Testing
import Vault

@testable import Agent
@testable import AgentCore

@Suite("What a copy of the vault has of the board's records")
struct RecordRulesTests {
    private static let gateway = "gateway.example:8443/mag"
    private let rules = RecordRules(of: Features.all)

    private func isIdentity(_ scope: String, _ name: String, keyScopes: Set<String> = []) -> Bool {
        rules.isIdentity(RecordName(scope: scope, name: name), .state, keyScopes)
    }

    @Test(
        "a registration at a gateway is identity, its configuration and values are not",
        arguments: [
            ("device-identity", true), ("device", true), ("registration-rest", true), ("client-credentials", true),
            ("board-tokens", true), ("user-log-in", true), ("user-lock", true), ("stopped", true),
            ("configuration", false), ("item-key", false), ("item/greeting", false),
        ])
    func registration(name: String, isIdentity expected: Bool) {
        #expect(isIdentity(Self.gateway, name) == expected)
        // Elsewhere the name means nothing.
        #expect(!isIdentity("", name))
    }

    @Test(
        "an account at a broker or an OAuth server is identity if it has a private key, with its name",
        arguments: ["broker", "server", "holding"])
    func account(name: String) {
        let scope = "account/spare"
        #expect(isIdentity(scope, name, keyScopes: [scope]))
        #expect(isIdentity("", "account-spare", keyScopes: [scope]))
        for keyScopes: Set<String> in [[], ["account/other"], [Self.gateway]] {
            #expect(!isIdentity(scope, name, keyScopes: keyScopes))
            #expect(!isIdentity("", "account-spare", keyScopes: keyScopes))
        }
        #expect(!isIdentity(scope, "configuration", keyScopes: [scope]))
    }

    @Test("the users of an M-Pin back end are identity, the back end is not")
    func mpin() {
        for name in ["users", "secrets"] { #expect(isIdentity("account/bank", name)) }
        #expect(!isIdentity("account/bank", "configuration"))
        #expect(!isIdentity(Self.gateway, "secrets"))
    }

    @Test("a serial number and taken enrollments stay on their board, other records only if the board has its own")
    func kept() {
        func names(_ records: Set<RecordName>) -> [String] { records.map(\.description).sorted() }
        #expect(names(rules.bound) == ["board-serial-number", "enrollments"])
        #expect(names(rules.kept) == ["current-account", "default-document", "grants", "hosts"])
    }
}
