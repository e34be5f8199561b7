import FoundationEssentials
import OAuth

/// The person who is logged in, as the session keeps it.
struct HeldUser: Sendable, Equatable {
    /// The longest user name, in bytes.
    static let nameLimit = 256

    var name: String?
    let loggedInAt: Date
    var tokens = HeldTokens()

    /// Whether this is the log-in of that moment. A date that was stored in between has lost its last bits.
    func isLogIn(of date: Date) -> Bool { abs(loggedInAt.timeIntervalSince(date)) < 0.001 }

    /// Whether a name is of bounded length, and shows as what it is in a log.
    static func isName(_ text: String) -> Bool {
        (1...nameLimit).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}
