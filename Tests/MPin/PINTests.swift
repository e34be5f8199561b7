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
        "PINs become the reference's factors, with leading zeros and negative hashes (MPIN 2.6, MPIN checklist 5)",
        arguments: VectorFiles.pinMapping)
    func mapping(entry: VectorFiles.Entry) throws {
        guard let pin = entry.text("pin") else { return }
        guard !pin.isEmpty, pin.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            #expect(throws: SecretRefusal.self) { try PINFactor(secret: SecretBytes(utf8: pin)) }
            return
        }
        let hash = Array(pin.utf8).withUnsafeBytes(PINFactor.hash)
        #expect(Int64(hash) == entry.number("hash") ?? Int64(hash))
        let factor = Int64(PINFactor.factor(of: hash))
        #expect(factor == entry.number("factor") ?? factor)
        // What the factor takes out of a sum is this multiple.
        let point = try G1Point(mapping: [UInt8](repeating: 7, count: G1Point.hashByteCount))
        let start = try point.multiplied(by: G1Scalar(reducing: [1, 0, 0]))
        let scalar = G1Scalar(reducing: [UInt8(Self.factor(pin) >> 8), UInt8(Self.factor(pin) & 0xFF)])
        let taken = try start.adding(PINFactor(secret: SecretBytes(utf8: pin)).value, times: point)
        let expected = try start.adding(scalar, times: point)
        #expect(taken == expected)
    }

    @Test("PINs of four digits have 6331 factors, so that some wrong ones are accepted (MPIN 2.6)")
    func collisions() {
        let pins = (0..<10_000).map { number in String(String(10_000 + number).dropFirst()) }
        let hits = Dictionary(grouping: pins, by: Self.factor)
        #expect(hits.count == 6331)
        let counts = Dictionary(grouping: hits.values, by: \.count).mapValues(\.count)
        #expect(counts == [1: 3188, 2: 2617, 3: 526])
        #expect(hits[Self.factor("0009")] == ["0009", "1071", "5130"])
    }

    @Test("PINs of any length have a factor of 14 bits, also for the ends of what a hash can be")
    func range() {
        #expect(PINFactor.factor(of: .min) == 16_384 - 3648)
        #expect(PINFactor.factor(of: .max) == 3647)
        #expect(PINFactor.factor(of: -1) == 16_383)
        #expect(PINFactor.factor(of: -10_000) == 0)
        #expect(PINFactor.factor(of: 9999) == 9999)
    }

    @Test("PINs that are empty or not printable ASCII are refused, but none for its length (MPIN 2.6)")
    func refused() throws {
        #expect(throws: SecretRefusal.empty) { try PINFactor(secret: SecretBytes(utf8: "")) }
        for text in ["12\n34", "\u{7F}", "\u{1F}", "pässwort", "12\u{0}4"] {
            #expect(throws: SecretRefusal.notPrintable) { try PINFactor(secret: SecretBytes(utf8: text)) }
        }
        let long = String(repeating: "~", count: 100_000)
        #expect(throws: Never.self) { try PINFactor(secret: SecretBytes(utf8: long)) }
    }
}
