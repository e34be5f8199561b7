import Groundwork
import Testing

@Suite("Base 64 and base 16")
struct CodecTests {
    @Test(
        "base 64 and base 16 write what RFC 4648 section 10 lists",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func vectors(plain: String, encoded: String) {
        #expect(Base64.encode(plain.utf8) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
    }

    @Test("base 64 keeps its two alphabets apart")
    func alphabets() {
        let bytes: [UInt8] = [0xFB, 0xFF, 0xFE]
        #expect(Base64.encode(bytes) == "+//+")
        #expect(Base64.encode(bytes, alphabet: .urlSafe) == "-__-")
        #expect(Base64.decode("-__-") == nil)
        #expect(Base64.decode("+//+", alphabet: .urlSafe) == nil)
    }

    @Test(
        "base 64 that is not canonical is refused",
        arguments: ["A", "AB=", "Zh==", "Zm9=v", "Zg=", "Z g=", "====", "Zm9v\n"])
    func notCanonical(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test("base 16 is read in either case, written in lower case, and otherwise refused")
    func hex() {
        #expect(Hex.encode([0, 0xAB, 0xFF]) == "00abff")
        #expect(Hex.decode("00aBFf") == [0, 0xAB, 0xFF])
        #expect(Hex.decode("0") == nil)
        #expect(Hex.decode("0g") == nil)
    }
}
