import Groundwork

/// Names and values of a query or of an `application/x-www-form-urlencoded` body.
struct Parameters: Sendable, Equatable {
    /// Most pairs that are read.
    static let limit = 64

    private var pairs: [(name: String, value: String)] = []

    /// Reads a form strictly.
    /// - Returns: `nil` for a broken percent escape, for invalid UTF-8 and for more than ``limit`` pairs.
    init?(form body: some Collection<UInt8>) {
        for piece in body.split(separator: UInt8(ascii: "&")) {
            let parts = piece.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard pairs.count < Self.limit, let name = Self.decode(parts[0]),
                let value = parts.count > 1 ? Self.decode(parts[1]) : ""
            else { return nil }
            pairs.append((name, value))
        }
    }

    /// Reads a query leniently, as MAG quirk Q6 requires: the text after a second `?` repeats the first part, so each
    /// value ends at a `?`, and the first occurrence of a name counts.
    init?(query: String) {
        let first = query.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)[0]
        self.init(form: first.utf8)
    }

    /// The first value of that name; `nil` when it is absent or blank.
    subscript(name: String) -> String? {
        guard let value = pairs.first(where: { $0.name == name })?.value.trimmed, !value.isEmpty else { return nil }
        return value
    }

    var hasDuplicates: Bool { Set(pairs.map(\.name)).count != pairs.count }

    static func == (left: Parameters, right: Parameters) -> Bool {
        left.pairs.elementsEqual(right.pairs) { $0.name == $1.name && $0.value == $1.value }
    }

    private static func decode(_ text: some Collection<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next(), let low = rest.next(),
                    let value = Hex.decode(String(decoding: [high, low], as: UTF8.self))
                else { return nil }
                bytes += value
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// Escapes everything but the unreserved characters of RFC 3986 section 2.3.
func percentEncoded(_ text: String) -> String {
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    var encoded = ""
    for byte in text.utf8 {
        if plain.contains(byte) {
            encoded.unicodeScalars.append(Unicode.Scalar(byte))
        } else {
            encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
    }
    return encoded
}
