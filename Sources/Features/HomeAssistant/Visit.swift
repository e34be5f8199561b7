import AgentMessages
import Groundwork
import Messaging

/// One broker session, and what is announced of the board there.
final class Visit: Sendable {
    let session: BrokerSession
    let board: AnnouncedBoard

    init(_ session: BrokerSession, _ board: AnnouncedBoard) { (self.session, self.board) = (session, board) }

    /// Passes on what the broker sends under a topic, until canceled or the broker session ends.
    ///
    /// - Parameter bound: the most messages that wait; the oldest are dropped.
    /// - Returns: `nil` if the broker refuses the subscription, which its messenger reports.
    func listen(
        to topic: Topic, bound: Int, _ take: @escaping @Sendable (IncomingMessage) async -> Void
    ) async throws -> Task<Void, Never>? {
        guard let subscription = try? await session.messenger.subscribe(TopicFilter(topic), bound: bound) else {
            return nil
        }
        try session.subscriptions.add(subscription)
        return Task {
            for await delivery in subscription {
                for message in delivery.messages { await take(message) }
            }
        }
    }
}
