/// Base 64 (RFC 4648 sections 4 and 5), strict: no white space, no characters outside the alphabet, no unused bits set.
public enum Base64 {
    public enum Alphabet: Sendable {
        /// `+` and `/`.
        case standard
        /// `-` and `_`.
        case urlSafe
    }

    private static let common = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    private static let characters = common + Array("+/".utf8)
    private static let urlSafeCharacters = common + Array("-_".utf8)

    public static func encode(
        _ bytes: some Sequence<UInt8>, alphabet: Alphabet = .standard, padded: Bool? = nil
    ) -> String {
        // Copy to an array, because the following code is fast only for arrays.
        text(
            of: Array(bytes), alphabet == .standard ? characters : urlSafeCharacters,
            padded: padded ?? (alphabet == .standard))
    }

    private static func text(of bytes: [UInt8], _ characters: [UInt8], padded: Bool) -> String {
        let groups = (bytes.count + 2) / 3
        return String(unsafeUninitializedCapacity: 4 * groups) { text in
            var written = 0
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let held = min(3, bytes.count - start)
                var bits = UInt32(bytes[start]) << 16
                if held > 1 { bits |= UInt32(bytes[start + 1]) << 8 }
                if held > 2 { bits |= UInt32(bytes[start + 2]) }
                for place in 0...held {
                    text[written] = characters[Int(bits >> UInt32(18 - 6 * place) & 63)]
                    written += 1
                }
            }
            while padded, !written.isMultiple(of: 4) {
                text[written] = UInt8(ascii: "=")
                written += 1
            }
            return written
        }
    }

    /// Decodes text in one alphabet; padding must be complete or absent.
    /// - Returns: `nil` when the text is not canonical.
    public static func decode(_ text: String, alphabet: Alphabet = .standard) -> [UInt8]? {
        var characters = Array(text.utf8)
        let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        if padding > 0 {
            guard padding <= 2, characters.count.isMultiple(of: 4) else { return nil }
            characters.removeLast(padding)
        }
        guard characters.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        for character in characters {
            guard let value = value(character, alphabet) else { return nil }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(bits >> UInt32(count) & 255))
                bits &= (1 << UInt32(count)) - 1
            }
        }
        return bits == 0 ? bytes : nil
    }

    private static func value(_ character: UInt8, _ alphabet: Alphabet) -> UInt32? {
        switch (character, alphabet) {
        case (UInt8(ascii: "A")...UInt8(ascii: "Z"), _): UInt32(character - UInt8(ascii: "A"))
        case (UInt8(ascii: "a")...UInt8(ascii: "z"), _): UInt32(character - UInt8(ascii: "a")) + 26
        case (UInt8(ascii: "0")...UInt8(ascii: "9"), _): UInt32(character - UInt8(ascii: "0")) + 52
        case (UInt8(ascii: "+"), .standard), (UInt8(ascii: "-"), .urlSafe): 62
        case (UInt8(ascii: "/"), .standard), (UInt8(ascii: "_"), .urlSafe): 63
        default: nil
        }
    }
}
