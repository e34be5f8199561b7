/// A number as drivers write it: a decimal, perhaps signed, perhaps with a fraction, and white space after it.
///
/// Drivers vary and a sysfs file may contain anything, so nothing else is accepted as a number.
enum DriverNumber {
    /// Largest content accepted, in bytes. The kernel's longest decimal has 21 digits before and 9 after the point.
    static let limit = 64

    static func isBlank(_ bytes: some Collection<UInt8>) -> Bool { bytes.allSatisfy(isSpace) }

    /// `nil` unless all of it is a finite number.
    static func parse(_ bytes: some Collection<UInt8>) -> Double? {
        let text = withoutTrailingSpace(bytes)
        var rest = text[...]
        if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
        let whole = rest.prefix(while: isDigit)
        guard !whole.isEmpty else { return nil }
        rest = rest[whole.endIndex...]
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix(while: isDigit)
            guard !fraction.isEmpty else { return nil }
            rest = rest[fraction.endIndex...]
        }
        guard rest.isEmpty else { return nil }
        return Double(String(decoding: text, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
    }

    /// The beginning, for a message, with unprintable bytes replaced.
    static func excerpt(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: bytes.prefix(32).map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    private static func withoutTrailingSpace(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var text = Array(bytes)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
