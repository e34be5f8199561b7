import AgentCore
import Gateway
import Groundwork

/// What another feature does with an account's registration, such as the connection to the broker.
package protocol RegistrationWork: Sendable {
    /// Works until the registration changes or the work fails; called again after each failure.
    ///
    /// - Parameters:
    ///   - device: the device identifier.
    ///   - isReady: called once callers who waited for the registration can use it.
    func run(
        at link: Link, as device: String, until changes: AsyncStream<GatewayEvent>, isReady: @Sendable () -> Void
    ) async throws

    /// Takes note that the account could not be registered, or the work failed.
    func didFail(_ error: any Error) async

    /// Drops what belongs to an identity while that is given up.
    ///
    /// - Throws: what `giveUp` throws; nothing has changed then.
    func discarding(at link: Link, _ giveUp: @Sendable () async throws -> Void) async throws -> DiscardedMessages

    /// Ends at once what local programs see of a user whose session was just locked.
    func userWasLocked() async

    /// Begins or ends what is done for the user, after the vault's passcode was locked or unlocked.
    func userDidChange() async
}

/// The messages that were dropped with an identity.
package struct DiscardedMessages: Answered {
    /// Messages and dead letters of the outbox, which the broker did not have.
    package var unsent = 0
    /// Messages of the inboxes that no program had acknowledged.
    package var unread = 0

    package init(unsent: Int = 0, unread: Int = 0) { (self.unsent, self.unread) = (unsent, unread) }

    package static let answer: Answer<DiscardedMessages> = [
        "registration": .schema(.registration) { _ in ["state": "unregistered"] as JSON },
        "discarded": .of("deleted messages that had waited for the broker") { $0.unsent },
        "discardedUnread": .of("deleted messages of inboxes that had not been acknowledged") { $0.unread },
    ]
}
