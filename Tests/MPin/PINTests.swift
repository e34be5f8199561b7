import Cryptography
import Groundwork
import Testing

@testable import MPin

@Suite("PINs")
struct PINTests {
    private static func factor(_ text: String) -> UInt16 {
        Array(text.utf8).withUnsafeBytes { PINFactor.factor(of: PINFactor.hash(of: $0)) }
    }

    @Test(
        "become the factors of the reference, with leading zeros and negative hashes (MPIN 2.6, MPIN checklist 5)",
        arguments: VectorFiles.pinMapping)
    func mapping(entry: VectorFiles.Entry) throws {
        let pin = try #require(entry.text("pin"))
        let hash = Array(pin.utf8).withUnsafeBytes(PINFactor.hash)
        #expect(Int64(hash) == entry.number("hash"))
        #expect(Int64(PINFactor.factor(of: hash)) == entry.number("factor"))
        let scalar = try PINFactor(secret: SecretBytes(utf8: pin)).scalar
        #expect(scalar.bytes.suffix(2) == [UInt8(PINFactor.factor(of: hash) >> 8), UInt8(Self.factor(pin) & 0xFF)])
        #expect(scalar.bytes.dropLast(2).allSatisfy { $0 == 0 })
    }

    @Test("of four digits have 6331 factors, so that some wrong ones are accepted (MPIN 2.6)")
    func collisions() {
        let pins = (0..<10_000).map { number in String(String(10_000 + number).dropFirst()) }
        let hits = Dictionary(grouping: pins, by: Self.factor)
        #expect(hits.count == 6331)
        let counts = Dictionary(grouping: hits.values, by: \.count).mapValues(\.count)
        #expect(counts == [1: 3188, 2: 2617, 3: 526])
        #expect(hits[Self.factor("0009")] == ["0009", "1071", "5130"])
    }

    @Test("of any length have a factor of 14 bits, also for the ends of what a hash can be")
    func range() {
        #expect(PINFactor.factor(of: .min) == 16_384 - 3648)
        #expect(PINFactor.factor(of: .max) == 3647)
        #expect(PINFactor.factor(of: -1) == 16_383)
        #expect(PINFactor.factor(of: -10_000) == 0)
        #expect(PINFactor.factor(of: 9999) == 9999)
    }

    @Test("are refused when they are empty, too long or not printable ASCII (MPIN 2.6)")
    func refused() throws {
        #expect(throws: SecretRefusal.empty) { try PINFactor(secret: SecretBytes(utf8: "")) }
        for text in ["12\n34", "\u{7F}", "\u{1F}", "pässwort", "12\u{0}4"] {
            #expect(throws: SecretRefusal.notPrintable) { try PINFactor(secret: SecretBytes(utf8: text)) }
        }
        let longest = String(repeating: "~", count: PINFactor.limit)
        #expect(throws: Never.self) { try PINFactor(secret: SecretBytes(utf8: longest)) }
        #expect(throws: SecretRefusal.tooLong) { try PINFactor(secret: SecretBytes(utf8: longest + " ")) }
    }
}
