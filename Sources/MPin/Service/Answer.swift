import Groundwork
import HTTPClient

/// The body of a successful answer, which has to be a JSON object (MPIN 5.1). What is read from it is bounded.
struct Answer: Equatable {
    /// The most bytes of an answer.
    static let limit = JSONAnswer.limit
    /// The most bytes of what is sent back as it came.
    static let textLimit = 4096

    /// For messages.
    let place: String
    let json: JSON
    /// As it came.
    let bytes: [UInt8]

    /// - Throws: ``MPinError/answerInvalid(place:reason:)``
    init(_ body: [UInt8], from place: String) throws(MPinError) {
        self.place = place
        // RFC 8259 section 8.1: UTF-8, without a byte order mark. A blank body is an empty object.
        guard let text = String(validating: body, as: UTF8.self) else {
            throw .answerInvalid(place: place, reason: "it is not UTF-8")
        }
        guard body.contains(where: { !Self.isBlank($0) }) else {
            (json, bytes) = ([:], Array("{}".utf8))
            return
        }
        guard text.utf8.first(where: { !Self.isBlank($0) }) == UInt8(ascii: "{") else {
            throw .answerInvalid(place: place, reason: "it is not a JSON object")
        }
        do throws(AnswerFault) {
            json = try JSONAnswer(body, limit: Self.limit).json
        } catch {
            throw .answerInvalid(place: place, reason: error.reason)
        }
        bytes = body
    }

    /// The blanks of RFC 8259 section 2.
    static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private func fault(_ reason: String) -> MPinError { .answerInvalid(place: place, reason: reason) }

    private func member(_ name: String) -> JSON? {
        guard let value = json[name], value != .null else { return nil }
        return value
    }

    /// A text.
    ///
    /// - Returns: `nil` if there is none.
    func text(_ name: String) throws(MPinError) -> String? {
        guard let value = member(name) else { return nil }
        guard let text = value.string else { throw fault("its \(name) is not a text") }
        return text
    }

    /// A text that is not empty.
    func requiredText(_ name: String, limit: Int = textLimit) throws(MPinError) -> String {
        guard let text = try text(name), !text.isEmpty else { throw fault("its \(name) is missing or empty") }
        guard text.utf8.count <= limit else { throw fault("its \(name) is too long") }
        return text
    }

    /// Octets in hexadecimal digits.
    func octets(_ name: String, limit: Int = 512) throws(MPinError) -> [UInt8] {
        let text = try requiredText(name, limit: 2 * limit)
        guard let octets = Hex.decode(text) else { throw fault("its \(name) is not hexadecimal") }
        return octets
    }

    /// - Returns: `nil` if there is none.
    func flag(_ name: String) throws(MPinError) -> Bool? {
        guard let value = member(name) else { return nil }
        guard let flag = value.bool else { throw fault("its \(name) is neither true nor false") }
        return flag
    }

    /// A whole number.
    ///
    /// - Returns: `nil` if there is none.
    func integer(_ name: String) throws(MPinError) -> Int64? {
        guard let value = member(name) else { return nil }
        guard let integer = value.integer else { throw fault("its \(name) is not a whole number") }
        return integer
    }
}
