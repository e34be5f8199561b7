/// The number that a browser shows for a log-in (MPIN 5.13).
public enum AccessNumber {
    /// The number of digits that have a check digit among them.
    static let checkedDigits = 7

    /// Whether a number may be sent. An empty one never may.
    /// - Parameters:
    ///   - digits: the setting `accessNumberDigits`.
    ///   - usesCheckDigit: the setting `accessNumberUseCheckSum` after the rule of `cSum`.
    public static func isAcceptable(_ number: String, digits: Int, usesCheckDigit: Bool) -> Bool {
        guard usesCheckDigit, digits == checkedDigits else { return !number.isEmpty }
        return hasValidCheckDigit(number)
    }

    static func hasValidCheckDigit(_ number: String) -> Bool {
        let digits = number.utf8.map { Int($0) - 0x30 }
        guard digits.count == checkedDigits, digits.allSatisfy((0...9).contains) else { return false }
        let sum = zip(digits, [7, 6, 5, 4, 3, 2]).reduce(0) { $0 + $1.0 * $1.1 }
        return digits[checkedDigits - 1] == (11 - sum % 11) % 11 % 10
    }
}
