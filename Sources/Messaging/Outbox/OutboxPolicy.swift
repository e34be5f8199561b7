import FoundationEssentials
import Groundwork

/// Limits of an ``Outbox`` in size and age.
public struct OutboxPolicy: Sendable, Equatable {
    /// The most bytes that wait: payload, topic and ``rowOverhead`` for each message. Beyond it the oldest telemetry
    /// that is not being sent is dropped; if there is none, the new message is refused.
    public var limitBytes: Int
    /// Messages that have waited longer are dropped, whatever their kind, as soon as that is certain
    /// (``WatchedClock``).
    public var maxAge: Duration
    /// The largest payload, in bytes.
    public var payloadLimit: Int
    /// Room that explicit messages leave free for telemetry, in bytes.
    public var telemetryReserve: Int
    /// How long the broker may take to acknowledge a message before it is written to the disk; zero writes each at
    /// once.
    public var spill = Duration.milliseconds(250)
    /// How long readings that no caller waits for may stay in memory while there is no broker; zero writes each at
    /// once.
    public var flush = Duration.seconds(5)
    /// How long the broker may take to confirm a message that nothing else keeps (``Durability/broker``).
    public var confirmation = Duration.seconds(15)

    /// The most bytes in memory that wait for the broker: what may be on the way to it at once.
    static let heldBytes = SendWindow.byteLimit

    /// Bytes counted for each message in addition to payload and topic.
    public static let rowOverhead = 32
    /// The largest payload that fits into an MQTT packet (MQTT 3.1.1 section 2.2.3).
    public static let greatestPayload = 268_435_455 - 2 - Topic.limit - 2
    /// 2025-01-01: a clock that shows an earlier time has not been set since a board without a battery was switched on.
    public static let plausibleSince = Date(timeIntervalSince1970: 1_735_689_600)

    /// - Parameter telemetryReserve: an eighth of the limit unless given.
    public init(
        limitBytes: Int = 64 << 20, maxAge: Duration = .seconds(30 * 86_400), payloadLimit: Int = 256 << 10,
        telemetryReserve: Int? = nil
    ) {
        self.limitBytes = limitBytes
        self.maxAge = maxAge
        self.payloadLimit = min(payloadLimit, Self.greatestPayload)
        self.telemetryReserve = telemetryReserve ?? limitBytes / 8
    }

    /// The most that one user's messages may take, in bytes.
    var publisherLimit: Int { limitBytes / 2 }
    /// The most that dead letters may take, in bytes, beside ``limitBytes``.
    var deadLetterBytes: Int { limitBytes / 8 }
    /// The most dead letters.
    static let deadLetterLimit = 1000

    /// How long a message may be in memory only; `nil` if it has to be written at once.
    ///
    /// - Parameters:
    ///   - isAwaited: whether a publisher waits for the answer that the message is safe.
    ///   - isConnected: whether the broker may have it sooner than the disk.
    func patience(isAwaited: Bool, isConnected: Bool) -> Duration? {
        let patience =
            switch (isConnected, isAwaited) {
            case (true, true): spill
            case (true, false): spill == .zero ? .zero : max(spill, flush)
            case (false, true): Duration.zero
            case (false, false): flush
            }
        return patience > .zero ? patience : nil
    }

    /// Least room made at once, in bytes, so that not every message to a full outbox causes a removal too.
    var slack: Int { min(16 << 10, limitBytes / 16) }
}

/// Where an ``Outbox`` keeps its messages.
public enum Durability: Sendable, Equatable {
    /// In files: accepted means that the broker or the disk has it.
    case disk
    /// In memory, lost with the process: for boards that may not write to their disk, and to measure what durability
    /// costs.
    case memory
    /// In memory until the broker has it: accepted means that the broker has it. What it has not confirmed when the
    /// connection ends or ``OutboxPolicy/confirmation`` is over is refused.
    case broker
}

/// The messages waiting in an ``Outbox``, and what became of the rest. Counts are kept with the messages, across
/// restarts.
public struct OutboxStatus: Sendable, Equatable {
    /// Waiting messages, including those being sent.
    public var depth: Int
    /// Bytes that count against ``OutboxPolicy/limitBytes``.
    public var bytes: Int
    /// Waiting messages that are in memory only: a power cut loses those that no caller waits for.
    public var unwritten = 0
    /// When the oldest waiting message was accepted.
    public var oldest: Date?
    public var accepted: Int
    /// Acknowledged by the broker.
    public var delivered: Int
    public var dropped: Drops
    /// Where a damaged file was moved to when this outbox was opened.
    public var setAside: String?
    /// Messages copied from it into this one.
    public var rescued = 0
    /// Messages that are no longer sent, because the broker closed the connection on each of them.
    public var deadLetters = 0

    /// Messages that were accepted, or telemetry that was offered, and never sent.
    public struct Drops: Sendable, Equatable {
        /// Telemetry, for lack of room.
        public var full = 0
        /// For their age.
        public var expired = 0
        /// Messages that can never be sent, such as tampered rows, and dead letters that were removed.
        public var unsendable = 0
        /// Messages accepted for a device identifier that this board no longer has.
        public var formerIdentity = 0

        public var total: Int { full + expired + unsendable + formerIdentity }

        public init(full: Int = 0, expired: Int = 0, unsendable: Int = 0, formerIdentity: Int = 0) {
            self.full = full
            self.expired = expired
            self.unsendable = unsendable
            self.formerIdentity = formerIdentity
        }

        static func sum(of reason: OutboxEvent.DropReason) -> WritableKeyPath<Drops, Int> {
            switch reason {
            case .full: \.full
            case .expired: \.expired
            case .unsendable: \.unsendable
            case .formerIdentity: \.formerIdentity
            }
        }
    }
}
