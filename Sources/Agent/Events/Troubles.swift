import FoundationEssentials
import Groundwork

/// What needs a person's attention: each trouble from the event that raised it to the event that ends it.
struct Troubles: Sendable {
    /// How long trouble is shown that no event ends, such as dropped messages, in seconds.
    static let shownSeconds: TimeInterval = 86_400

    private struct Subject: Hashable {
        let account: AccountName
        /// Of the trouble, or of the event if no other ends it.
        let name: String
    }

    private var standing: [Subject: AgentEvent] = [:]

    mutating func take(_ event: AgentEvent) {
        for trouble in event.ends { standing[Subject(account: event.account, name: trouble.name)] = nil }
        if event.severity == .trouble {
            standing[Subject(account: event.account, name: event.raises?.name ?? event.name)] = event
        }
    }

    /// The newest that stands.
    func newest(at now: Date) -> AgentEvent? {
        standing.values.filter { now.timeIntervalSince($0.time) < Self.shownSeconds }.max { $0.time < $1.time }
    }
}
