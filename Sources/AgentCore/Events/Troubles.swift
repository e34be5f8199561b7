import FoundationEssentials
import Groundwork

/// What needs a person's attention: each trouble from the event that raised it to the event that ends it.
package struct Troubles: Sendable {
    /// How long trouble is shown that no event ends, such as dropped messages, in seconds.
    package static let shownSeconds: TimeInterval = 86_400

    private struct Subject: Hashable {
        let account: AccountName
        /// Of the trouble, or of the event if no other ends it.
        let name: String
    }

    private var standing: [Subject: AgentEvent] = [:]

    package mutating func take(_ event: AgentEvent) {
        for trouble in event.ends { standing[Subject(account: event.account, name: trouble.name)] = nil }
        if event.severity == .trouble {
            standing = standing.filter { Self.isShown($0.value, at: event.time) }
            standing[Subject(account: event.account, name: event.raises?.name ?? event.name)] = event
        }
    }

    /// The newest that stands.
    package func newest(at now: Date) -> AgentEvent? {
        standing.values.filter { Self.isShown($0, at: now) }.max { $0.time < $1.time }
    }

    private static func isShown(_ event: AgentEvent, at now: Date) -> Bool {
        now.timeIntervalSince(event.time) < shownSeconds
    }
}
