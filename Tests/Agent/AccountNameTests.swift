import Testing

@testable import Agent
@testable import AgentCore

@Suite("Name of an account")
struct AccountNameTests {
    @Test(
        "a name of an account has lower-case letters, digits and hyphens",
        arguments: ["gateway", "plant2", "2", "a-b-", "x"])
    func taken(text: String) { #expect(AccountName(text)?.text == text) }

    @Test(
        "a name of an account has no other characters, and has bounds",
        arguments: [
            "", "-a", "Plant", "plant 2", "plant_2", "a/b", "a.b", "ä", "a\n", "a\u{0}", "％",
            String(repeating: "a", count: 33),
        ])
    func refused(text: String) { #expect(AccountName(text) == nil) }

    @Test("names of accounts are sorted with the default one first")
    func order() {
        let names = ["plant2", "gateway", "a", "zoo"].compactMap(AccountName.init)
        #expect(names.sorted().map(\.text) == ["gateway", "a", "plant2", "zoo"])
    }
}
