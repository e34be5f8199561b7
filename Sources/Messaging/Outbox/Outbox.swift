import FoundationEssentials
import Groundwork
import Storage

/// Messages waiting for the broker. A message is safe when the broker or the disk has it, whichever is first; then its
/// publisher gets the answer.
///
/// While there is a connection, a message is held in memory (``HeldMessages``) and sent. If the broker acknowledges it
/// within ``OutboxPolicy/spill``, it is never written. When the time is over, the connection ends or the outbox is
/// closed, all that is held is written in one transaction. Without a connection ``accept(_:)`` writes at once;
/// publishers that call at the same time share one sync. Readings that no caller waits for (``offer(_:answering:)``)
/// are written in groups (``OutboxPolicy/flush``).
///
/// The numbers in memory are above all on the disk, so that messages are sent in the order of their numbers. A written
/// message is removed when the broker acknowledges it. The removal is written with the next messages or within two
/// seconds; a message whose removal is lost in a power cut is sent once more.
///
/// Runs on ``NamedThread/storage``.
public final actor Outbox {
    /// Drops, as they happen.
    public nonisolated let events = Broadcast<OutboxEvent>()
    /// Sends with each change after which no message waits.
    public nonisolated let emptied = Broadcast<Void>()
    public nonisolated let path: String
    public nonisolated let policy: OutboxPolicy

    let thread = NamedThread.storage
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Tells a publisher that its messages are safe, with their numbers, or why they were not accepted.
    public typealias Answer = @Sendable (Result<[Int64], MessagingError>) -> Void

    struct Request {
        let messages: [OutgoingMessage]
        /// `nil` if no caller waits.
        let answer: Answer?
    }

    let clock: WatchedClock
    var ages: MessageAges
    /// `nil` before it is opened and once it is closed.
    var store: (any OutboxStore)?
    private var setAside: String?
    private var rescued = 0
    /// Messages of a former identity that were dropped when this was opened.
    public private(set) var droppedAtOpening = 0
    /// The counts now, and as last written.
    var ledger = OutboxLedger() { didSet { if ledger.depth == 0 { emptied.send(()) } } }
    var written = OutboxLedger()
    /// Requests that are written as soon as the thread is free.
    var requests: [Request] = []
    var held = HeldMessages()
    /// Writes what is held at ``spillDue``; `nil` while nothing is.
    var spill: Task<Void, Never>?
    var spillDue = SuspendingClock.now
    /// Messages whose publishers were told that they could not be written.
    var withdrawn = 0
    /// The newest message on the disk.
    var newestRow: Int64 = 0
    /// Whether messages may be held at all.
    var mayHold = false
    /// Whether only the broker can take messages (``Durability/broker``).
    private(set) var keepsNothing = false
    /// The messages being sent. Nothing is until ``send(atMost:)`` sets its limit.
    var window = SendWindow(limit: 0)
    /// What others are sent before.
    var deferral: Deferral?
    /// Whether those that waited for others begin with one alone, so that it can be told what ends the connection.
    var sendsAlone = false
    /// Takes what is sent, while there is a connection.
    var outlet: Outlet?
    /// Messages handed to connections so far.
    var sent = 0
    /// The bytes by owner; `nil` while they are not needed.
    var shares: OutboxShares?
    var letters: [DeadLetter] = []
    /// Acknowledged messages whose rows have not been removed yet.
    var acknowledged = IDRanges()
    /// Removes those rows unless another write does so first.
    var removal: Task<Void, any Error>?
    /// The newest message returned for sending.
    var cursor: Int64 = 0
    /// Whether the sender has seen the last message and waits for ``arrival``.
    var isDrained = false
    /// Set while there is a connection.
    var arrival: Arrival?
    /// No telemetry that may be dropped is at or before this message.
    var telemetryAfter: Int64 = 0
    var nextAgeCheck: ContinuousClock.Instant?

    private init(path: String, policy: OutboxPolicy, clock: WatchedClock) {
        self.path = path
        self.policy = policy
        self.clock = clock
        ages = MessageAges(clock)
    }

    /// Opens or makes an outbox. A damaged file is set aside under a dated name (``OutboxStatus/setAside``); messages
    /// that can still be read are copied into the new one.
    ///
    /// - Parameters:
    ///   - path: the database; its directory exists.
    ///   - owner: the device identifier that the messages belong to. What was accepted for another one is dropped:
    ///     its topics are not this device's, and its messages may be another person's.
    ///   - isSuspect: checks the whole file, however large it is.
    ///   - clock: for the age of messages.
    /// - Throws: ``MessagingError/outboxUnusable(_:)``
    public static func open(
        at path: String, owner: String? = nil, policy: OutboxPolicy = OutboxPolicy(), durability: Durability = .disk,
        isSuspect: Bool = false, clock: WatchedClock = WatchedClock()
    ) async throws(MessagingError) -> Outbox {
        let outbox = Outbox(path: path, policy: policy, clock: clock)
        try await outbox.open(owner, durability, isSuspect)
        return outbox
    }

    private func open(_ owner: String?, _ durability: Durability, _ isSuspect: Bool) throws(MessagingError) {
        do {
            switch durability {
            case .disk:
                let (file, setAside) = try OutboxFile.open(at: path, policy: policy, checkingAll: isSuspect)
                rescued = file.rescued
                ledger = try file.ledger()
                written = ledger
                newestRow = ledger.accepted
                mayHold = true
                self.setAside = setAside
                store = file
                if let owner { try claim(file, for: owner) }
                letters = try file.deadLetters()
            case .memory:
                store = OutboxMemory()
            case .broker:
                (mayHold, keepsNothing) = (true, true)
                store = OutboxMemory()
            }
        } catch {
            throw .outboxUnusable(error)
        }
    }

    /// Writes all that is in memory and closes the database. Waiting messages stay in it.
    public func close() {
        guard let store else { return }
        write()
        // A message that is not removed now is sent again after the next start.
        if !acknowledged.ranges.isEmpty || durableLedger.mustBeSaved(after: written) { try? change(store) { _ in } }
        removal?.cancel()
        spill?.cancel()
        store.close()
        self.store = nil
        (arrival, outlet) = (nil, nil)
        events.finish()
        emptied.finish()
    }

    /// Drops the messages of another owner, also what was set aside of them, and makes the file this owner's.
    private func claim(_ file: OutboxFile, for owner: String) throws(StorageError) {
        let former = try file.owner()
        guard former != owner else { return }
        if former != nil {
            SetAsideFiles.erase(of: path)
            setAside = nil
            droppedAtOpening = try removeAll(from: file)
        }
        try file.setOwner(owner)
    }

    /// Drops everything, for a board that gives up the identity that the messages belong to. The messages are counted
    /// as dropped and erased from the file, and so is what was set aside.
    ///
    /// - Returns: how many messages and dead letters there were.
    /// - Throws: ``MessagingError``: `outboxUnusable`, `outboxClosed`
    @discardableResult
    public func clear() throws(MessagingError) -> Int {
        guard let store else { throw .outboxClosed(path: path) }
        // Requests already made are answered first.
        write()
        if !path.isEmpty { SetAsideFiles.erase(of: path) }
        setAside = nil
        do {
            return try removeAll(from: store)
        } catch {
            throw .outboxUnusable(error)
        }
    }

    private func removeAll(from store: any OutboxStore) throws(StorageError) -> Int {
        var count = 0
        // Readings that could not be written.
        _ = held.removeAll()
        try change(store) { store throws(StorageError) in
            count = ledger.depth + Int(ledger.dead)
            try store.removeAll()
            (ledger.removed, ledger.removedBytes, ledger.dead) = (ledger.accepted, ledger.acceptedBytes, 0)
            ledger.count(count, droppedAs: .formerIdentity)
        }
        window.countAllOut()
        (letters, shares) = ([], nil)
        try store.eraseRemoved()
        return count
    }

    public func status() -> OutboxStatus {
        OutboxStatus(
            depth: ledger.depth, bytes: ledger.bytes, unwritten: held.count,
            oldest: ledger.depth > 0 ? (try? store?.oldest()) ?? held.all.first?.acceptedAt : nil,
            accepted: Int(ledger.accepted) - withdrawn, delivered: ledger.delivered, dropped: ledger.drops,
            setAside: setAside,
            rescued: rescued, deadLetters: letters.count)
    }
}
