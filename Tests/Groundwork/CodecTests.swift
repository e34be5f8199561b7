import Groundwork
import Testing

@Suite("Base 64 and base 16")
struct CodecTests {
    @Test(
        "write what RFC 4648 section 10 lists",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func vectors(plain: String, encoded: String) {
        #expect(Base64.encode(plain.utf8) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
    }

    @Test("keep the two alphabets apart")
    func alphabets() {
        let bytes: [UInt8] = [0xFB, 0xFF, 0xFE]
        #expect(Base64.encode(bytes) == "+//+")
        #expect(Base64.encode(bytes, alphabet: .urlSafe) == "-__-")
        #expect(Base64.decode("-__-") == nil)
        #expect(Base64.decode("+//+", alphabet: .urlSafe) == nil)
    }

    @Test("refuse what is not canonical", arguments: ["A", "AB=", "Zh==", "Zm9=v", "Zg=", "Z g=", "====", "Zm9v\n"])
    func notCanonical(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test("base 16 reads either case, writes lower, and refuses the rest")
    func hex() {
        #expect(Hex.encode([0, 0xAB, 0xFF]) == "00abff")
        #expect(Hex.decode("00aBFf") == [0, 0xAB, 0xFF])
        #expect(Hex.decode("0") == nil)
        #expect(Hex.decode("0g") == nil)
    }
}
