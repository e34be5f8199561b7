import Groundwork

/// An answer that has to be a JSON object, read within bounds.
public struct JSONAnswer: Sendable {
    /// The default limit of an answer, in bytes.
    public static let limit = 256 * 1024

    /// An object.
    public let json: JSON

    /// - Throws: ``AnswerFault`` when the body is longer, or not a JSON object.
    public init(_ body: some Collection<UInt8>, limit: Int = Self.limit) throws(AnswerFault) {
        guard let json = try? JSON(parsing: body, limit: limit) else { throw AnswerFault("it is not JSON") }
        guard json.object != nil else { throw AnswerFault("it is not a JSON object") }
        self.json = json
    }

    public subscript(name: String) -> JSON? { json[name] }

    /// A text that may go into a header or a form unchanged.
    ///
    /// - Returns: `nil` when there is none, or an empty one.
    /// - Throws: ``AnswerFault`` if it is not fit for that, see ``HTTPHeaders/isPlainValue(_:)``.
    public func plainText(_ name: String) throws(AnswerFault) -> String? {
        guard let text = json[name]?.string, !text.isEmpty else { return nil }
        guard HTTPHeaders.isPlainValue(text) else { throw AnswerFault("its \(name) is not printable") }
        return text
    }

    /// Like ``plainText(_:)``, but required.
    public func requiredPlainText(_ name: String) throws(AnswerFault) -> String {
        guard let text = try plainText(name) else { throw AnswerFault("its \(name) is missing or empty") }
        return text
    }
}

extension JSON {
    /// A number of seconds written as a number or as a string, which some servers do, within what a date can hold.
    public var seconds: Double? {
        let value: Double? =
            switch self {
            case .integer, .number: number
            case .string(let text): text.utf8.count <= 32 ? Double(text) : nil
            default: nil
            }
        // Anything beyond the year 9999 is treated as that year.
        guard let value, value.isFinite else { return nil }
        return min(value, 253_402_300_799)
    }
}

extension HTTPHeaders {
    /// The most bytes of one identifier, secret or token.
    public static let plainValueLimit = 16 * 1024

    /// Whether a value may go into a header or a form unchanged: visible ASCII, not empty, at most ``plainValueLimit``
    /// bytes.
    public static func isPlainValue(_ text: String) -> Bool {
        (1...plainValueLimit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
