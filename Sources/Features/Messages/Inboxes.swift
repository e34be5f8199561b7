import AgentCore
import Gateway
import Glibc
import Groundwork
import Messaging

extension InboxStore {
    /// The inboxes of a gateway. Without any in the settings, they are opened only if some are left from before: what
    /// waits there can be read, and the broker is asked to send no more.
    ///
    /// - Throws: `MessagingError` if the file cannot be opened, or a filter is not valid.
    package static func open(
        ofScope scope: String, owner: String, topics: TopicNamespace, settings: AgentConfiguration,
        clock: WatchedClock
    ) async throws -> InboxStore? {
        let path = "\(settings.stateDirectory)/\(BrokerSession.inboxName(scope))"
        guard !settings.allInboxes.isEmpty || access(path, F_OK) == 0 else { return nil }
        return try await open(
            at: path, owner: owner, policies: try settings.allInboxes.map { try $0.policy(topics) }, clock: clock)
    }
}

/// What goes on at the inboxes while the broker session is open.
extension BrokerSessionKeeper {
    package func workInboxes(_ inboxes: InboxStore, at brokerSession: BrokerSession) async {
        let events = inboxes.events.subscribe()
        for event in await inboxes.newsOfOpening { self.report(event) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await event in events { self.report(event) } }
            for action in host.settings.actions {
                group.addTask { await ActionWork(action, inboxes, brokerSession.topics, self.host, self.account).run() }
            }
            // The first that ends does so because the inboxes are closed, or this is canceled.
            await group.next()
            group.cancelAll()
        }
    }

    /// The broker session with its inboxes, which are made if there are none yet.
    ///
    /// - Throws: `MessagingError.inboxUnusable`; ``AgentError/subscriptionEnded`` if the broker session ends meanwhile.
    package func stationWithInboxes() async throws -> (brokerSession: BrokerSession, inboxes: InboxStore) {
        guard let brokerSession else { throw AgentError.subscriptionEnded }
        if let inboxes = brokerSession.inboxes { return (brokerSession, inboxes) }
        let path = "\(host.settings.stateDirectory)/\(BrokerSession.inboxName(scope))"
        let inboxes = try await InboxStore.open(
            at: path, owner: brokerSession.topics.deviceID, policies: [],
            clock: host.time.watchedClock)
        guard let now = self.brokerSession, now.messenger === brokerSession.messenger, now.inboxes == nil else {
            // Another caller was quicker, or the broker session has ended.
            await inboxes.close()
            return try await stationWithInboxes()
        }
        self.brokerSession?.inboxes = inboxes
        await brokerSession.messenger.attach(inboxes)
        Task { await workInboxes(inboxes, at: brokerSession) }
        return (brokerSession, inboxes)
    }
}
