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
        let path = "\(settings.stateDirectory)/\(Station.inboxName(scope))"
        guard !settings.allInboxes.isEmpty || access(path, F_OK) == 0 else { return nil }
        return try await open(
            at: path, owner: owner, policies: try settings.allInboxes.map { try $0.policy(topics) }, clock: clock)
    }
}

/// What goes on at the inboxes while the station is open.
extension StationKeeper {
    package func workInboxes(_ inboxes: InboxStore, at station: Station) async {
        let events = inboxes.events.subscribe()
        for event in await inboxes.newsOfOpening { self.report(event) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await event in events { self.report(event) } }
            for action in host.settings.actions {
                group.addTask { await ActionWork(action, inboxes, station.topics, self.host, self.account).run() }
            }
            // The first that ends does so because the inboxes are closed, or this is canceled.
            await group.next()
            group.cancelAll()
        }
    }

    /// The station with its inboxes, which are made if there are none yet.
    ///
    /// - Throws: `MessagingError.inboxUnusable`; ``AgentError/subscriptionEnded`` if the station ends meanwhile.
    package func stationWithInboxes() async throws -> (station: Station, inboxes: InboxStore) {
        guard let station else { throw AgentError.subscriptionEnded }
        if let inboxes = station.inboxes { return (station, inboxes) }
        let path = "\(host.settings.stateDirectory)/\(Station.inboxName(gateway.identity.scope))"
        let inboxes = try await InboxStore.open(
            at: path, owner: station.topics.deviceID, policies: [],
            clock: host.time.watchedClock)
        guard let now = self.station, now.messenger === station.messenger, now.inboxes == nil else {
            // Another caller was quicker, or the station has ended.
            await inboxes.close()
            return try await stationWithInboxes()
        }
        self.station?.inboxes = inboxes
        await station.messenger.attach(inboxes)
        Task { await workInboxes(inboxes, at: station) }
        return (station, inboxes)
    }
}
