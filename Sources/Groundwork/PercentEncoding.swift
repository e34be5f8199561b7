/// Percent-encoding (RFC 3986 section 2.1).
///
/// One rule to write and one to read it; what else a reader demands of the result (UTF-8, no control characters) is
/// its own.
public enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Letters, digits and `-._~`: what has no need to be encoded anywhere (RFC 3986 section 2.3).
    public static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: ASCII.isLetterOrDigit(byte)
        }
    }

    /// Every UTF-8 byte but the unreserved ones encoded; a space is `%20`.
    public static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        append(text.utf8, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// As ``encode(_:)``, where the caller says into which memory. Each byte takes three at most.
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

    /// - Parameter plusIsSpace: as forms write it (URL standard, section 5.1); a plus sign is a plus sign elsewhere.
    /// - Returns: `nil` where a `%` is not followed by two hexadecimal digits.
    public static func decode(_ text: some Sequence<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        decode(text, plusIsSpace: plusIsSpace, keepsBroken: false)
    }

    /// With every `%` as it is that is not followed by two hexadecimal digits: for text that need not be
    /// percent-encoded.
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

/// What bytes are as ASCII.
public enum ASCII {
    public static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }
}
