import AgentCore
import Groundwork

/// Why an enrollment that waited for the agent was not used, or is still there.
package enum FirstBootError: Explained, Equatable {
    /// A file or a credential that is there cannot be read.
    case unreadable(place: String, reason: String)
    /// Neither an enrollment URL nor a configuration document.
    case malformed(place: String, reason: String)
    /// It was taken, and could not be removed.
    case notWiped(place: String, reason: String)
    /// This board took it before, and is not enrolled any more.
    case used(place: String)
    /// It was tried before, without success, and has not changed since.
    case refusedBefore(place: String, reason: String)
    /// The board is enrolled, by another one or by a person.
    case unneeded(place: String)

    package var explanation: Explanation {
        switch self {
        case .unreadable(let place, let reason):
            Explanation(
                "enrollment.unreadable", .configuration, "cannot read the enrollment in \(place): \(reason)",
                remedy: "let the agent's user read it, or enable the unit that can: "
                    + "systemctl enable --now latchkey-first-boot.socket")
        case .malformed(let place, let reason):
            Explanation(
                "enrollment.malformed", .invalidInput, "\(place) has no enrollment: \(reason)",
                remedy: "write the enrollment URL from the gateway's administrator there, as the only line")
        case .notWiped(let place, let reason):
            Explanation(
                "enrollment.not-wiped", .configuration,
                "the enrollment in \(place) was used, but could not be wiped: \(reason)",
                remedy:
                    "delete it by hand, with the file system mounted for writing, or in what provides the credential; "
                    + "it is not used again")
        case .used(let place):
            Explanation(
                "enrollment.used", .conflict, "the enrollment in \(place) was already used, and is not used again",
                remedy: "replace it with a new one, and restart the agent; or enroll with: latchkey enroll -")
        case .refusedBefore(let place, let reason):
            Explanation(
                "enrollment.refused-before", .conflict, "the enrollment in \(place) is not tried again: \(reason)",
                remedy: "replace it with a new one, and restart the agent; or enroll with: latchkey enroll -")
        case .unneeded(let place):
            Explanation(
                "enrollment.unneeded", .conflict, "the board is enrolled, and does not need the enrollment in \(place)",
                remedy: "delete it; to enroll at its gateway: latchkey enroll - < FILE")
        }
    }

    package static let examples: [FirstBootError] = [
        .unreadable(place: "PATH", reason: "REASON"), .malformed(place: "PATH", reason: "REASON"),
        .notWiped(place: "PATH", reason: "REASON"), .used(place: "PATH"),
        .refusedBefore(place: "PATH", reason: "REASON"), .unneeded(place: "PATH"),
    ]
}
