/// Lines of text typed by a code scanner, which the kernel shows as a keyboard of the US layout. Pure.
struct TypedText {
    /// The longest line that is kept, in characters; more than that is not an enrollment URL.
    static let limit = 4096

    enum Outcome: Equatable {
        case nothing
        /// Printable ASCII; at least one character.
        case line(String)
        /// A line that was too long; none of it is kept.
        case tooLong
        /// The end of a line that lost something in the kernel, because it was not read in time.
        case incomplete
    }

    /// By the codes of linux/input-event-codes.h, without and with Shift.
    private static let rows: [(first: UInt16, plain: String, shifted: String)] = [
        (2, "1234567890-=", "!@#$%^&*()_+"), (16, "qwertyuiop[]", "QWERTYUIOP{}"),
        (30, "asdfghjkl;'`", "ASDFGHJKL:\"~"), (43, "\\zxcvbnm,./", "|ZXCVBNM<>?"), (55, "*", "*"),
        (57, " ", " "), (71, "789-456+1230.", "789-456+1230."), (98, "/", "/"),
    ]
    private static let enter: Set<UInt16> = [28, 96]
    private static let shift: Set<UInt16> = [42, 54]

    private var typed: [UInt8] = []
    private var isTooLong = false
    private var isIncomplete = false
    private var shiftsDown: Set<UInt16> = []

    mutating func receive(_ event: KeyEvent) -> Outcome {
        if event.saysDropped {
            // Which keys are down is unknown, too.
            self = TypedText()
            isIncomplete = true
        }
        guard let key = event.key else { return .nothing }
        if Self.shift.contains(key.code) {
            if key.isDown { shiftsDown.insert(key.code) } else { shiftsDown.remove(key.code) }
            return .nothing
        }
        guard event.pressed != nil else { return .nothing }
        if Self.enter.contains(key.code) { return finish() }
        guard let character = Self.character(of: key.code, isShifted: !shiftsDown.isEmpty) else { return .nothing }
        if typed.count < Self.limit { typed.append(character) } else { isTooLong = true }
        return .nothing
    }

    private mutating func finish() -> Outcome {
        defer { (typed, isTooLong, isIncomplete) = ([], false, false) }
        guard !isIncomplete else { return .incomplete }
        guard !isTooLong else { return .tooLong }
        return typed.isEmpty ? .nothing : .line(String(decoding: typed, as: UTF8.self))
    }

    private static func character(of code: UInt16, isShifted: Bool) -> UInt8? {
        for row in rows where code >= row.first {
            let text = (isShifted ? row.shifted : row.plain).utf8
            guard let index = text.index(text.startIndex, offsetBy: Int(code - row.first), limitedBy: text.endIndex),
                index < text.endIndex
            else { continue }
            return text[index]
        }
        return nil
    }
}
