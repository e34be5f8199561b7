/// Percent-encoding (RFC 3986 section 2.1).
///
/// One rule for encoding and one for decoding; callers check other requirements on the result (UTF-8, no control
/// characters).
public enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Letters, digits and `-._~`: the characters that never need encoding (RFC 3986 section 2.3).
    public static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: ASCII.isLetterOrDigit(byte)
        }
    }

    /// Encodes every UTF-8 byte except unreserved ones; a space is `%20`.
    public static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        append(text.utf8, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Encodes like ``encode(_:)``, into the caller's memory. Each byte takes at most three.
    public static func append(_ bytes: some Sequence<UInt8>, to encoded: inout [UInt8]) {
        for byte in bytes {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(digits[Int(byte >> 4)])
                encoded.append(digits[Int(byte & 15)])
            }
        }
    }

    /// - Parameter plusIsSpace: whether a plus sign means a space, as in forms (URL standard, section 5.1).
    /// - Returns: `nil` if a `%` is not followed by two hexadecimal digits.
    public static func decode(_ text: some Sequence<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        decode(text, plusIsSpace: plusIsSpace, keepsBroken: false)
    }

    /// Keeps every `%` that is not followed by two hexadecimal digits: for text that may not be percent-encoded.
    public static func decodeWherePossible(_ text: some Sequence<UInt8>) -> [UInt8] {
        decode(text, plusIsSpace: false, keepsBroken: true) ?? []
    }

    private static func decode(_ text: some Sequence<UInt8>, plusIsSpace: Bool, keepsBroken: Bool) -> [UInt8]? {
        var (decoded, rest) = ([UInt8](), Array(text)[...])
        decoded.reserveCapacity(rest.count)
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                if rest.count >= 2, let value = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self))?.first {
                    decoded.append(value)
                    rest = rest.dropFirst(2)
                } else {
                    guard keepsBroken else { return nil }
                    decoded.append(byte)
                }
            case UInt8(ascii: "+") where plusIsSpace: decoded.append(UInt8(ascii: " "))
            default: decoded.append(byte)
            }
        }
        return decoded
    }
}

/// Classifies bytes as ASCII characters.
public enum ASCII {
    public static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    /// A letter, a digit, `_` or `-`: what bare keys of TOML, base64url and many names are made of.
    public static func isWord(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }
}
