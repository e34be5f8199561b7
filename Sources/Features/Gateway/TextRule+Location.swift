import AgentCore
import Board

extension TextRule {
    package static let gpsdAddress = TextRule {
        GPSDAddress($0) == nil
            ? ("is not where gpsd can be asked", "write 127.0.0.1:2947, [::1]:2947 or the path of a socket") : nil
    }
    /// A number by ITU-T E.164, or nothing.
    package static let telephoneNumber = TextRule {
        let digits = $0.hasPrefix("+") ? $0.dropFirst() : $0[...]
        let isNumber = (1...15).contains(digits.utf8.count) && digits.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return $0.isEmpty || isNumber
            ? nil : ("is not a telephone number", "write at most 15 digits, with or without + before them")
    }
}
