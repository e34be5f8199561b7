import Gateway
import Groundwork
import Messaging

/// Giving up the identity of an account.
extension Link {
    /// Removes the device at the gateway, then here, with the waiting messages, which belong to the former identity.
    ///
    /// - Returns: the number of messages removed.
    /// - Throws: `GatewayError`; nothing has changed then.
    func deregister() async throws -> Int {
        try await discarding { try await session.deregister() }
    }

    /// Forgets the device on this board only, with the waiting messages.
    ///
    /// - Returns: the number of messages removed.
    func reset() async throws -> Int {
        try await discarding { try await session.reset() }
    }

    /// The outbox is emptied here or at the end of the station, whichever comes first. If the process ends before that,
    /// it is emptied when it is next opened, which only another identity does. Where no station is open, because the
    /// outbox cannot be or the broker uses another account, the files are erased.
    private func discarding(_ giveUp: () async throws -> Void) async throws -> Int {
        guard let outbox = station?.outbox else {
            let former = holder
            try await giveUp()
            // Another one is of the next identity, which takes no messages over.
            if holder == nil { eraseFiles() } else if holder == former { erasesFiles = true }
            return 0
        }
        let before = await outbox.status().dropped.formerIdentity
        try await giveUp()
        _ = try? await outbox.clear()
        let kept = try? await station?.inboxes?.clear()
        return await outbox.status().dropped.formerIdentity - before + (kept ?? 0)
    }

    /// They must not be open.
    func eraseFiles() {
        Station.removeMessages(of: gateway.identity.scope, in: agent.configuration.stateDirectory)
    }
}
