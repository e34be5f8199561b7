import Testing

@testable import Vault

@Suite("A key reference")
struct KeyReferenceTests {
    @Test(
        "a key reference is read as it is written",
        arguments: [
            (KeyReference.Keeper.software, "software:device"), (.software, "software:0"),
            (.software, "software:a-b-3f2a9c01d4e7b65a"), (.tpm, "tpm:device"), (.pkcs11, "pkcs11:device"),
        ])
    func roundTrip(keeper: KeyReference.Keeper, text: String) throws {
        let reference = try #require(KeyReference(text))
        #expect(reference.keeper == keeper)
        #expect(reference.description == text)
        #expect(KeyReference(keeper, name: reference.name) == reference)
    }

    @Test(
        "a text of any other form is not a key reference",
        arguments: [
            "", ":", "software", "software:", ":device", "card:device", "Software:device", "software:Device",
            " software:device",
            "software:device ", "software:dev ice", "software:a:b", "software:a/b", "software:a.b", "software:é",
            "software:a\u{0}", "software:a\n", "software::a", "software:" + String(repeating: "a", count: 65),
            String(repeating: "software:a", count: 100_000),
        ])
    func refused(text: String) { #expect(KeyReference(text) == nil) }

    @Test("a key reference may have a name of 64 characters")
    func longest() {
        let name = String(repeating: "a", count: KeyReference.nameLimit)
        #expect(KeyReference("software:\(name)")?.name == name)
    }

    @Test("a key reference is new each time, and says what the key is for")
    func fresh() throws {
        let made = try (0..<100).map { _ in try #require(try KeyReference.fresh(.software, label: "device")) }
        #expect(Set(made).count == 100)
        for reference in made { #expect(reference.description.wholeMatch(of: /software:device-[0-9a-f]{16}/) != nil) }
        #expect(try KeyReference.fresh(.software, label: String(repeating: "a", count: 47)) != nil)
        for label in ["", "Device", "a b", String(repeating: "a", count: 48)] {
            #expect(try KeyReference.fresh(.software, label: label) == nil)
        }
    }
}
