import Gateway
import Groundwork
import Messaging

/// Giving up the identity of an account.
extension Link {
    /// Removes the device at the gateway, then here, with the waiting messages, which belong to the former identity.
    ///
    /// - Throws: `GatewayError`; nothing has changed then.
    func deregister() async throws -> DiscardedMessages {
        try await discarding { try await session.deregister() }
    }

    /// Forgets the device on this board only, with the waiting messages.
    func reset() async throws -> DiscardedMessages {
        try await discarding { try await session.reset() }
    }

    /// The outbox and the inboxes are emptied here or at the end of the station, whichever comes first. If the process
    /// ends before that, they are emptied when they are next opened, which only another identity does. Where no station
    /// is open, because the outbox cannot be or the broker uses another account, the files are erased.
    private func discarding(_ giveUp: () async throws -> Void) async throws -> DiscardedMessages {
        guard let outbox = station?.outbox else {
            let former = holder
            try await giveUp()
            // Another one is of the next identity, which takes no messages over.
            if holder == nil { eraseFiles() } else if holder == former { erasesFiles = true }
            return DiscardedMessages()
        }
        let inboxes = station?.inboxes
        let before = await outbox.status().dropped.formerIdentity
        let clearedBefore = await inboxes?.cleared ?? 0
        try await giveUp()
        _ = try? await outbox.clear()
        _ = try? await inboxes?.clear()
        return DiscardedMessages(
            unsent: await outbox.status().dropped.formerIdentity - before,
            unread: (await inboxes?.cleared ?? 0) - clearedBefore)
    }

    /// They must not be open.
    func eraseFiles() {
        Station.removeMessages(of: gateway.identity.scope, in: agent.configuration.stateDirectory)
    }
}

/// The messages that went with an identity.
struct DiscardedMessages {
    /// Messages and dead letters of the outbox, which the broker did not have.
    var unsent = 0
    /// Messages of the inboxes, which nobody had acknowledged.
    var unread = 0

    var report: JSON {
        [
            "registration": ["state": "unregistered"], "discarded": .integer(Int64(unsent)),
            "discardedUnread": .integer(Int64(unread)),
        ]
    }
}
