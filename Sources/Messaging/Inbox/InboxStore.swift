import FoundationEssentials
import Glibc
import Groundwork
import Storage
import Synchronization

/// Messages of standing subscriptions, on the disk until a program has read and acknowledged them.
///
/// A message is on the disk before the broker gets its acknowledgement, so neither a kill nor a power cut loses one of
/// QoS 1; the broker sends again what it does not know to be acknowledged, so a message can be there twice. An inbox is
/// bounded in bytes, number and age: the oldest go first, and are counted.
///
/// Runs on ``NamedThread/storage``. After a failure of the disk, the file is opened again at the next use.
public final actor InboxStore {
    public nonisolated let events = Broadcast<InboxEvent>()
    /// The name of an inbox that has new messages.
    public nonisolated let arrivals = Broadcast<String>()
    public nonisolated let path: String
    public nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

    private struct Demand {
        /// Of the settings.
        let settled: [InboxPolicy]
        /// Whether ``added`` is all that the file has.
        var isComplete = false
        var added: [InboxPolicy] = []
        /// Of all.
        var filters: [TopicFilter: QoS] = [:]

        init(_ settled: [InboxPolicy], added: [InboxPolicy]? = nil) {
            self.settled = settled
            self.added = added ?? []
            isComplete = added != nil
            for policy in settled + self.added where (filters[policy.filter] ?? .atMostOnce) == .atMostOnce {
                filters[policy.filter] = policy.qos
            }
        }
    }

    private nonisolated let demand: Mutex<Demand>
    /// Those of the settings, then those that were added.
    nonisolated var policies: [InboxPolicy] { demand.withLock { $0.settled + $0.added } }
    nonisolated var added: [InboxPolicy] { demand.withLock { $0.added } }
    /// What the broker is asked for at each connection.
    nonisolated var filters: [TopicFilter: QoS] { demand.withLock { $0.filters } }
    nonisolated let former = Mutex<Set<TopicFilter>>([])
    /// The messages that could not be kept last; `nil` while they are kept.
    nonisolated let unkept = Mutex<Unkept?>(nil)

    private let owner: String
    private let clock: WatchedClock
    private var ages: MessageAges
    private var file: InboxFile?
    private var isOpening = true
    private var isClosed = false
    /// Whether damage has shown: then the whole file is checked at the next opening, however large it is.
    private var isSuspect = false
    /// What happened when this was opened.
    public private(set) var newsOfOpening: [InboxEvent] = []
    /// How many messages ``clear()`` has dropped since this was opened.
    public private(set) var cleared = 0
    /// As of the last transaction; nothing while the file is closed.
    var known: [String: InboxStatus] { file?.statuses ?? [:] }
    /// The highest number that each inbox is known to have had; nothing while the file is closed.
    var highest: [String: Int64] { file?.highest ?? [:] }
    /// When messages were last dropped, by inbox.
    private var drops: [String: ContinuousClock.Instant] = [:]
    private static let burst = Duration.seconds(60)

    private init(_ path: String, _ owner: String, _ policies: [InboxPolicy], _ clock: WatchedClock) {
        self.path = path
        self.owner = owner
        self.clock = clock
        ages = MessageAges(clock)
        demand = Mutex(Demand(policies))
    }

    nonisolated func take(added: [InboxPolicy]) { demand.withLock { $0 = Demand($0.settled, added: added) } }

    /// Opens or makes the file; a damaged one is set aside. On a disk that fails, such as a full one, it is opened as
    /// soon as that is possible; until then messages stay at the broker.
    ///
    /// - Parameters:
    ///   - path: the database; its directory exists.
    ///   - owner: the device identifier that the messages belong to. What was kept for another one is dropped.
    ///   - clock: for the age of messages.
    /// - Throws: ``MessagingError/inboxUnusable(_:)``
    public static func open(
        at path: String, owner: String, policies: [InboxPolicy], clock: WatchedClock = WatchedClock()
    ) async throws(MessagingError) -> InboxStore {
        let store = InboxStore(path, owner, policies, clock)
        try await store.open()
        return store
    }

    /// Erases a file that is not open, with what was set aside of it.
    public static func remove(at path: String) {
        SetAsideFiles.erase(of: path)
        for ending in ["", "-wal", "-shm"] { SetAsideFiles.remove(path + ending, of: path) }
    }

    private func open() throws(MessagingError) {
        defer { isOpening = false }
        do throws(MessagingError) {
            _ = try use { _ in }
        } catch {
            guard case .inboxUnusable(let fault) = error, fault.isOfDisk else { throw error }
            noteUnkept(bytes: 0, error)
        }
    }

    /// The open file; opened where it is not.
    private func opened() throws(StorageError) -> InboxFile {
        if let file { return file }
        guard !isClosed else { throw .closed(path: path) }
        let (file, setAside) = try InboxFile.open(at: path, checkingAll: isSuspect)
        isSuspect = false
        if let setAside { note(.setAside(path: setAside)) }
        let dropped = try file.claim(for: owner)
        if dropped > 0 { note(.formerIdentity(count: dropped)) }
        // What the settings have taken over is theirs.
        let settled = Set(demand.withLock { $0.settled.map(\.name) })
        let added = try file.added()
        for policy in added where settled.contains(policy.name) { try file.removeAdded(policy.name) }
        take(added: added.filter { !settled.contains($0.name) })
        let wanted = Set(self.filters.keys.map(\.text))
        // Those of before stay until the broker was asked to end them.
        let filters = try file.filters()
        former.withLock { $0 = Set(filters.subtracting(wanted).compactMap { try? TopicFilter($0) }) }
        if !filters.isSuperset(of: wanted) { try file.setFilters(filters.union(wanted)) }
        self.file = file
        return file
    }

    /// Reports what happened, while this is being opened to its opener.
    func note(_ news: InboxEvent) {
        if isOpening { newsOfOpening.append(news) } else { events.send(news) }
    }

    public func close() {
        file?.database.close()
        (file, isClosed) = (nil, true)
        events.finish()
        arrivals.finish()
    }

    /// Works with the file, which is closed after a failure.
    func use<Result>(_ body: (InboxFile) throws -> Result) throws(MessagingError) -> Result {
        do {
            let result = try body(try opened())
            return result
        } catch {
            throw closed(after: error)
        }
    }

    /// Does all of `body` or nothing.
    @discardableResult
    func change<Result>(_ body: (InboxFile) throws -> Result) throws(MessagingError) -> Result {
        // Not by `use`: Swift 6.2 does not let a closure of an actor pass `body` on.
        do {
            let file = try opened()
            let result = try file.transaction(body)
            return result
        } catch {
            throw closed(after: error)
        }
    }

    private func closed(after error: any Error) -> MessagingError {
        file?.database.close()
        file = nil
        let fault = error as? StorageError ?? .refused(path: path, reason: "\(error)")
        if fault.isDamage { isSuspect = true }
        return .inboxUnusable(fault)
    }

    // MARK: Keeping

    nonisolated func wants(_ message: IncomingMessage) -> Bool {
        wants(messageTo: message.topic, retained: message.retained)
    }

    /// - Returns: true of everything while it is not known which inboxes were added.
    nonisolated func wants(messageTo topic: String, retained: Bool) -> Bool {
        demand.withLock { demand in
            !demand.isComplete || demand.settled.contains { $0.wants(messageTo: topic, retained: retained) }
                || demand.added.contains { $0.wants(messageTo: topic, retained: retained) }
        }
    }

    /// For the connection's thread, which waits until the messages are on the disk.
    ///
    /// - Returns: false if they are not.
    nonisolated func keepAndWait(_ messages: [IncomingMessage]) -> Bool {
        let wanted = messages.filter(wants)
        guard !wanted.isEmpty else { return true }
        let isKept = NamedThread.storage.waiting { await self.keepOrNote(wanted) }
        killPoint("inbox-kept")
        return isKept
    }

    /// Writes messages into the inboxes whose filters match, in one transaction.
    func keep(_ messages: [IncomingMessage]) throws(MessagingError) {
        let policies = policies
        let rows: [InboxFile.Row] = messages.flatMap { message in
            policies.filter { $0.wants(message) }.map { ($0.name, message) }
        }
        let names = Set(rows.map(\.inbox))
        let dropped = try change { file in
            let now = clock.read()
            for row in rows {
                // The clock may have been stepped since the message was received.
                let isCertain =
                    now.isSettled
                    && abs(now.date.timeIntervalSince(row.message.receivedAt)) < WatchedClock.tolerance
                ages.accept(try file.append(row, isTimeCertain: isCertain), at: now)
            }
            let dropped = try policies.filter { names.contains($0.name) }.flatMap { policy in
                try makeRoom(policy, in: file)
            }
            killPoint("inbox-written")
            return dropped
        }
        killPoint("inbox-committed")
        report(dropped)
        for name in names { arrivals.send(name) }
    }

    private typealias Drop = (inbox: String, reason: InboxEvent.DropReason)

    /// Drops the oldest of an inbox until it keeps to its limits.
    private func makeRoom(_ policy: InboxPolicy, in file: InboxFile) throws(StorageError) -> [Drop] {
        let now = clock.read()
        var reasons: [Drop] = []
        while let status = file.statuses[policy.name], let oldest = try file.oldest(of: policy.name) {
            let isOver = status.unread + status.dead > policy.limitMessages || status.bytes > policy.limitBytes
            let isOld = ages.hasWaited(policy.maxAge, oldest.id, oldest.received, at: now)
            guard isOver || isOld else { break }
            try file.drop(oldest, of: policy.name)
            reasons.append((policy.name, isOver ? .full : .expired))
        }
        if !reasons.isEmpty { try file.count(dropped: reasons.count, of: policy.name) }
        return reasons
    }

    private func report(_ drops: [Drop]) {
        for drop in drops {
            let last = self.drops.updateValue(.now, forKey: drop.inbox)
            guard last.map({ .now - $0 > Self.burst }) ?? true else { continue }
            events.send(.dropped(inbox: drop.inbox, drop.reason, total: known[drop.inbox]?.dropped ?? 0))
        }
    }

    /// Drops everything, for a board that gives up the identity that the messages belong to, also what was set aside.
    ///
    /// - Returns: how many messages there were.
    @discardableResult
    public func clear() throws(MessagingError) -> Int {
        SetAsideFiles.erase(of: path)
        let count = try change { try $0.removeEverything() }
        cleared += count
        try use { try $0.database.checkpoint() }
        return count
    }

    /// Drops what became too old since the last message.
    func dropOld() throws(MessagingError) {
        _ = try use { _ in }
        let now = clock.read()
        let old = policies.filter { policy in
            guard let status = known[policy.name], let id = status.first, let stamp = status.oldestStamp else {
                return false
            }
            return ages.hasWaited(policy.maxAge, id, stamp, at: now)
        }
        guard !old.isEmpty else { return }
        report(try change { file in try old.flatMap { try makeRoom($0, in: file) } })
    }
}
