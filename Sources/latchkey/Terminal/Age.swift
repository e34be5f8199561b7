/// A span of time for people: the two largest units.
struct Age: CustomStringConvertible {
    let seconds: Int64?

    var description: String {
        guard let seconds else { return "?" }
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60)
        return switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3600: "\(minutes) min \(seconds % 60) s"
        case ..<86_400: "\(hours) h \(minutes) min"
        default: "\(days) d \(hours) h"
        }
    }
}
