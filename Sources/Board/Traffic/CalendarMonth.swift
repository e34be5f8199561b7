public import FoundationEssentials
import Glibc

/// A month of the calendar in UTC.
public struct CalendarMonth: Sendable, Hashable, Comparable {
    /// Months since January of the year 0.
    private let number: Int

    public init(of date: Date) {
        var seconds = time_t(date.timeIntervalSince1970.rounded(.down))
        var fields = tm()
        gmtime_r(&seconds, &fields)
        number = (Int(fields.tm_year) + 1900) * 12 + Int(fields.tm_mon)
    }

    /// - Parameter text: such as `2026-11`; `nil` for any other form.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 4, parts[1].utf8.count == 2,
            text.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) }),
            let year = UInt16(parts[0]), let month = UInt16(parts[1]), (1...12).contains(month)
        else { return nil }
        number = Int(year) * 12 + Int(month) - 1
    }

    /// Such as `2026-11`.
    public var text: String {
        let month = number % 12 + 1
        return "\(number / 12)-\(month < 10 ? "0" : "")\(month)"
    }

    /// When the next month begins.
    public var end: Date {
        var fields = tm()
        fields.tm_year = CInt(number / 12 - 1900)
        fields.tm_mon = CInt(number % 12 + 1)
        fields.tm_mday = 1
        return Date(timeIntervalSince1970: TimeInterval(timegm(&fields)))
    }

    public static func < (one: CalendarMonth, other: CalendarMonth) -> Bool { one.number < other.number }
}
