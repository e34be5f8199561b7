import Groundwork

/// Why an answer that came with a success is not what the protocol says.
struct AnswerFault: Error, Equatable {
    /// The most bytes of a JSON answer of the gateway's own endpoints.
    static let bodyLimit = 256 * 1024
    /// The most characters of an identifier, a secret or a token.
    static let valueLimit = 16 * 1024

    let reason: String

    init(_ reason: String) { self.reason = reason }

    /// Whether a value may go into a header or a form as it is: visible ASCII, not empty, bounded.
    static func isVisible(_ text: String) -> Bool {
        (1...valueLimit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension JSON {
    /// A number of seconds written as a number or as a string (quirk Q27), within what a date can hold.
    var seconds: Double? {
        let value: Double? =
            switch self {
            case .integer, .number: number
            case .string(let text): text.utf8.count <= 32 ? Double(text) : nil
            default: nil
            }
        // Further away than year 9999 is the same as far (quirk Q19).
        guard let value, value.isFinite else { return nil }
        return min(value, 253_402_300_799)
    }
}
