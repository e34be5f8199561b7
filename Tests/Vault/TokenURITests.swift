import Groundwork
import Testing

@testable import Vault

@Suite("PKCS#11 URI")
struct TokenURITests {
    private func refusal(_ text: String) -> VaultError? {
        #expect(throws: VaultError.self, "\(text)") { try TokenURI(text) }
    }

    @Test("a PKCS#11 URI is read with all of its attributes, and written so that it is read as the same")
    func whole() throws {
        let text =
            "pkcs11:token=The%20Software%20PKCS%2311%20token;manufacturer=Snake%20Oil,%20Inc.;serial=49113cdd22de3f9d;"
            + "model=1.0;library-manufacturer=Snake;library-description=Soft%20Token;library-version=3.7;slot-id=327;"
            + "object=my-key%3b1;id=%69%95%00%ff;type=private"
        let uri = try TokenURI(text)
        #expect(uri.token == "The Software PKCS#11 token" && uri.manufacturer == "Snake Oil, Inc.")
        #expect(uri.serial == "49113cdd22de3f9d" && uri.model == "1.0")
        #expect(uri.libraryManufacturer == "Snake" && uri.libraryDescription == "Soft Token")
        #expect(uri.libraryVersion == .init(major: 3, minor: 7) && uri.slotID == 327)
        #expect(uri.object == "my-key;1" && uri.id == [0x69, 0x95, 0, 0xFF] && uri.type == .privateKey)
        #expect(try TokenURI(uri.description) == uri)
        #expect(!uri.description.contains(" ") && uri.description.contains("id=%69%95%00%ff"))
    }

    @Test("fits anything when it says nothing, and has nothing of an object for a token")
    func empty() throws {
        #expect(try TokenURI("pkcs11:") == TokenURI())
        #expect(try TokenURI("PKCS11:object=a;token=b").ofToken.description == "pkcs11:token=b")
        #expect(try TokenURI("pkcs11:library-version=2").libraryVersion == .init(major: 2, minor: 0))
    }

    @Test(
        "a PKCS#11 URI with a PIN is refused by an error of its own that does not show it",
        arguments: [
            "pkcs11:token=a?pin-value=1234", "pkcs11:token=a;pin-value=1234", "pkcs11:?pin-source=file:/etc/pin",
            "pkcs11:?module-foo=a&pin-value=1234",
        ])
    func pin(text: String) {
        #expect(refusal(text) == .token(.pinInURI))
        #expect(!VaultError.token(.pinInURI).explanation.message.contains("1234"))
    }

    @Test(
        "a PKCS#11 URI with a module, or what is not understood, is refused",
        arguments: [
            "pkcs11:?module-path=/usr/lib/evil.so", "pkcs11:module-name=evil", "pkcs11:token=a?", "pkcs11:x-vendor=1",
            "pkcs11:Token=a", "pkcs11:token", "pkcs11:token=a;", "pkcs11:;token=a", "pkcs11:token=a;token=b",
            "pkcs11:token=", "pkcs11:id=", "pkcs11:token=a b", "pkcs11:token=%4", "pkcs11:token=%zz",
            "pkcs11:token=%00",
            "pkcs11:token=%ff", "pkcs11:token=a/b", "pkcs11:token=\u{e9}", "pkcs11:slot-id=-1", "pkcs11:slot-id=+1",
            "pkcs11:slot-id=99999999999999999999", "pkcs11:type=cert", "pkcs11:library-version=1.2.3",
            "pkcs11:library-version=256", "pkcs11:library-version=1.", "http:token=a", "", "pkcs11",
            "pkcs11:token=" + String(repeating: "a", count: 33), "pkcs11:serial=" + String(repeating: "a", count: 17),
            "pkcs11:id=" + String(repeating: "%01", count: 256),
            "pkcs11:object=" + String(repeating: "%61", count: 340),
        ])
    func refused(text: String) {
        guard case .token(.uriInvalid(let reason)) = refusal(text) else {
            Issue.record("\(text) was not refused as invalid")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test("a PKCS#11 URI may be as long as the limit, and no longer")
    func limit() throws {
        let start = "pkcs11:id=" + String(repeating: "%01", count: 255) + ";object="
        let text = start + String(repeating: "a", count: TokenURI.limit - start.utf8.count)
        #expect(try TokenURI(text).object?.utf8.count == TokenURI.limit - start.utf8.count)
        #expect(refusal(text + "a") == .token(.uriInvalid(reason: "it has more than 1024 bytes")))
    }
}
