import FoundationEssentials
import OAuth

/// The logged-in user, as the session stores it.
struct HeldUser: Sendable, Equatable {
    /// The maximum length of a user name, in bytes.
    static let nameLimit = 256

    var name: String?
    let loggedInAt: Date
    var tokens = HeldTokens()
    /// What the gateway last said about the user; `nil` until it has.
    var profile: UserProfile?

    /// Whether this login happened at that time. Storing a date loses its last bits.
    func isLogin(of date: Date) -> Bool { abs(loggedInAt.timeIntervalSince(date)) < 0.001 }

    /// Whether a name is at most ``nameLimit`` bytes long, and safe to print in a log.
    static func isName(_ text: String) -> Bool {
        (1...nameLimit).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
    }
}
