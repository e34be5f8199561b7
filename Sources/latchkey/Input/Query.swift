import Groundwork

/// Percent-encoding of one value of a query (RFC 3986 section 2.1).
enum Query {
    static func encode(_ value: String) -> String {
        var text = ""
        for byte in value.utf8 {
            let character = Character(Unicode.Scalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "-._~".contains(character) {
                text.append(character)
            } else {
                text += "%" + Hex.encode([byte]).uppercased()
            }
        }
        return text
    }
}
