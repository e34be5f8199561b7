import FoundationEssentials
import Groundwork

/// What the endings of connections tell.
extension Messenger {
    /// `nil` once a connection has lasted.
    var presentError: MessagingError? {
        let isSteady = state == .connected && Date().timeIntervalSince(since) > EndingStreak.memory / .seconds(1)
        return isSteady ? nil : lastError
    }

    /// - Returns: whether a message was set aside.
    func learn(from loss: ConnectionLoss, _ error: MessagingError) async -> Bool {
        var owner: OutboxShare?
        if let id = loss.underWay.first { owner = await outbox.owner(ofSent: id) }
        guard let id = pace.connectionEnded(with: loss, of: owner) else {
            if let owner, loss.cause == .hangUp, pace.suspects(loss) { await outbox.letOthersGoFirst(owner) }
            return false
        }
        if let owner { await outbox.letOthersGoFirst(owner) }
        // If this cannot be written, the message is sent again and found again.
        return (try? await outbox.makeDeadLetter(id, because: "each time it was sent alone, \(error.message)")) != nil
    }

    /// Why a connection ended, as far as several in a row tell more than one.
    func suspected(_ error: MessagingError) -> MessagingError {
        guard case .connectionLost = error else { return error }
        return switch streak.suspicion {
        case .rival: .rival(broker, count: streak.count)
        case .refusedGreeting: .greetingRefused(broker, count: streak.count)
        case nil: error
        }
    }
}
