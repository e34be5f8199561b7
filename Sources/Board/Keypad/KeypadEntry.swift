import Groundwork

/// What is typed on a keypad until it is entered. Pure.
struct KeypadEntry {
    /// The most digits that are kept; more than that is not a PIN.
    static let limit = 64

    enum Outcome: Equatable {
        case nothing
        case entered([UInt8])
        /// The key to cancel was pressed.
        case refused
    }

    /// By the codes of linux/input-event-codes.h: the row above the letters, the block beside them, and telephones.
    private static let digits: [UInt16: UInt8] = {
        var digits: [UInt16: UInt8] = [11: 0, 82: 0, 512: 0]
        for digit in 1...9 as ClosedRange<UInt8> {
            digits[UInt16(digit) + 1] = digit
            digits[UInt16(digit) + 512] = digit
        }
        for (code, digit) in zip([79, 80, 81, 75, 76, 77, 71, 72, 73] as [UInt16], 1...9 as ClosedRange<UInt8>) {
            digits[code] = digit
        }
        return digits
    }()
    private static let enter: Set<UInt16> = [28, 96, 352]
    private static let backspace: Set<UInt16> = [14, 111]
    private static let cancel: Set<UInt16> = [1, 223]

    private var typed: [UInt8] = []

    init() { typed.reserveCapacity(Self.limit) }

    mutating func receive(_ event: KeyEvent) -> Outcome {
        // What was typed then has gaps: it begins again.
        if event.saysDropped { typed.removeAll(keepingCapacity: true) }
        guard let key = event.pressed else { return .nothing }
        if let digit = Self.digits[key] {
            if typed.count < Self.limit { typed.append(UInt8(ascii: "0") + digit) }
        } else if Self.backspace.contains(key) {
            if !typed.isEmpty { typed.removeLast() }
        } else if Self.cancel.contains(key) {
            return .refused
        } else if Self.enter.contains(key), !typed.isEmpty {
            return .entered(typed)
        }
        return .nothing
    }
}
