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
    /// it is emptied when it is next opened, which only another identity does.
    private func discarding(_ giveUp: () async throws -> Void) async throws -> Int {
        guard let outbox = station?.outbox else {
            try await giveUp()
            // Messages may wait there from when the broker used this account.
            if !hasBroker {
                Station.removeMessages(of: gateway.identity.scope, in: agent.configuration.stateDirectory)
            }
            return 0
        }
        let before = await outbox.status().dropped.formerIdentity
        try await giveUp()
        _ = try? await outbox.clear()
        let kept = try? await station?.inboxes?.clear()
        return await outbox.status().dropped.formerIdentity - before + (kept ?? 0)
    }
}
