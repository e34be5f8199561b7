/// Passes on what a broker sends, packet by packet (MQTT 3.1.1 section 2), and shortens messages that are too large.
///
/// The library takes memory for whatever a packet says that it has, up to 256 MB. Of a message that is larger than
/// anybody takes, it gets the topic and the identifier only, as if there were no payload. So it acknowledges the
/// message, and the broker does not send it again, even if the connection breaks while the payload is read and
/// discarded. Messages that are withheld the library does not see at all: nothing acknowledges them.
///
/// The library keeps each message of QoS 2 until the broker releases it (MQTT 3.1.1 section 4.3.3), and has no limit for
/// them. With more of them than any broker has on the way, the connection is refused, as when one's identifier is
/// used again before it was released.
struct PacketGate {
    /// Reads from the connection: how many bytes; 0 at its end, negative if there are none now or it failed.
    typealias Source = (UnsafeMutableRawBufferPointer) -> Int
    /// Whether a message of QoS 1 to this topic, retained or not, is withheld.
    typealias Withholding = @Sendable (_ topic: String, _ isRetained: Bool) -> Bool

    /// What comes before the payload of a message: the length of the topic, the longest topic and an identifier.
    private static let mostBeforePayload = 2 + 65_535 + 2
    /// The most that the length of a packet can say (MQTT 3.1.1 section 2.2.3).
    private static let most = (1 << 28) - 1
    private static let pieceBytes = 16_384
    /// The most messages of QoS 2 that are not released: brokers send 10 to 100 unless configured otherwise.
    /// ``mostUnreleasedBytes`` has room for 31 of the largest.
    static let mostUnreleased = 1000
    /// What they may take, with ``messageBytes`` for each.
    static let mostUnreleasedBytes = 32 << 20
    /// What the library takes for a message beside its topic and payload, in bytes.
    private static let messageBytes = 256

    private enum Place {
        /// In the kind of a packet and the length of what follows.
        case header
        /// In a packet that is passed on; so many bytes are left.
        case passing(left: Int)
        /// In what comes before the payload of a message that is too large, may be withheld or has QoS 2; or in what
        /// releases such a message.
        case opening(length: Int)
        /// In the payload of one that is.
        case discarding(left: Int)
    }

    private let limit: Int
    private let withholds: Withholding?
    private var place = Place.header
    /// The header of a packet; in ``Place/opening(length:)``, its kind and what comes before the payload.
    private var collected: [UInt8] = []
    /// What was collected and is to be passed on, and how much of it was.
    private var ready: [UInt8] = []
    private var passed = 0
    /// The length of the payload that the packet which was passed on last has lost.
    private(set) var discarded: Int?
    /// The messages of QoS 2 that were passed on and not released, by identifier, with the bytes that they take.
    private var unreleased: [UInt16: Int] = [:]
    private var unreleasedBytes = 0
    /// Whether the connection was refused for them.
    private(set) var hasUnreleased = false
    /// How many packets were read that the library answers.
    private var answered = 0

    /// - Parameters:
    ///   - payloadLimit: the largest payload that is always passed on, in bytes.
    ///   - withholds: `nil` if no message is withheld.
    init(payloadLimit: Int, withholds: Withholding? = nil) {
        limit = min(payloadLimit, Self.most) + Self.mostBeforePayload
        self.withholds = withholds
    }

    /// How many packets were read since the last call that the library answers.
    mutating func takeAnswered() -> Int {
        defer { answered = 0 }
        return answered
    }

    /// Reads for the library.
    ///
    /// - Returns: what the source does.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer, from source: Source) -> Int {
        while true {
            if passed < ready.count {
                let count = min(buffer.count, ready.count - passed)
                ready.withUnsafeBytes { buffer.copyMemory(from: .init(rebasing: $0[passed..<passed + count])) }
                passed += count
                return count
            }
            let count: Int
            switch place {
            case .passing(let left):
                count = source(.init(rebasing: buffer.prefix(left)))
                if count > 0 { place = left > count ? .passing(left: left - count) : .header }
                return count
            case .header: count = readHeader(from: source)
            case .opening(let length): count = readOpening(of: length, from: source)
            case .discarding(let left): count = discard(left, from: source)
            }
            guard count > 0 else { return count }
        }
    }

    private mutating func readHeader(from source: Source) -> Int {
        // No packet is shorter than two bytes.
        let count = collect(max(1, 2 - collected.count), from: source)
        guard count > 0, collected.count > 1, let last = collected.last, last < 0x80 || collected.count == 5 else {
            return count
        }
        var length = 0
        for (place, byte) in collected.dropFirst().enumerated() { length |= Int(byte & 0x7F) << (7 * place) }
        discarded = nil
        let kind = collected[0]
        if Self.isAnswered(kind) { answered += 1 }
        let isMessage = kind >> 4 == 3
        let isOpened =
            isMessage && (Self.qos(kind) == 2 || withholds != nil && Self.qos(kind) == 1) || Self.isRelease(kind)
        if last < 0x80, length <= limit, !isOpened {
            pass(then: length > 0 ? .passing(left: length) : .header)
        } else if last < 0x80, isMessage && Self.qos(kind) <= 1 || isOpened && length <= limit {
            collected = [kind]
            place = .opening(length: length)
        } else {
            // Nothing else has a reason to be that large.
            refuse(kind)
        }
        return count
    }

    /// The library ends the connection at a length that has no end.
    private mutating func refuse(_ kind: UInt8) {
        collected = [kind, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
        pass(then: .header)
    }

    private mutating func readOpening(of length: Int, from source: Source) -> Int {
        let count = collect(openingEnd - collected.count, from: source)
        // A topic may say that it is longer than its packet.
        if count > 0, openingEnd - 1 > length { refuse(collected[0]) }
        guard count > 0, collected.count >= 3, collected.count == openingEnd else { return count }
        let opening = collected.count - 1
        let payload = length - opening
        if let withholds, !Self.isRelease(collected[0]), Self.qos(collected[0]) == 1,
            withholds(openingTopic, collected[0] & 1 == 1)
        {
            collected.removeAll()
            place = payload > 0 ? .discarding(left: payload) : .header
            return count
        }
        guard noteRelease(payload: payload) else {
            hasUnreleased = true
            refuse(collected[0])
            return count
        }
        let isTooLarge = length > limit
        var (header, left) = ([collected[0]], isTooLarge ? opening : length)
        repeat {
            header.append(UInt8(left & 0x7F) | (left > 0x7F ? 0x80 : 0))
            left >>= 7
        } while left > 0
        collected.replaceSubrange(0..<1, with: header)
        if isTooLarge { discarded = payload }
        pass(then: isTooLarge ? .discarding(left: payload) : payload > 0 ? .passing(left: payload) : .header)
        return count
    }

    /// Counts a message of QoS 2, or one less.
    ///
    /// - Returns: whether it may pass.
    private mutating func noteRelease(payload: Int) -> Bool {
        guard Self.isRelease(collected[0]) || Self.qos(collected[0]) == 2 else { return true }
        let id = UInt16(collected[collected.count - 2]) << 8 | UInt16(collected[collected.count - 1])
        if Self.isRelease(collected[0]) {
            unreleasedBytes -= unreleased.removeValue(forKey: id) ?? 0
            return true
        }
        let bytes = collected.count + payload + Self.messageBytes
        guard unreleased.count < Self.mostUnreleased, unreleasedBytes + bytes <= Self.mostUnreleasedBytes,
            unreleased.updateValue(bytes, forKey: id) == nil
        else { return false }
        unreleasedBytes += bytes
        return true
    }

    private var openingTopic: String {
        String(decoding: collected[3..<3 + (Int(collected[1]) << 8 | Int(collected[2]))], as: UTF8.self)
    }

    /// How much is collected of a message in ``Place/opening(length:)``, as far as that is known.
    private var openingEnd: Int {
        guard collected.count >= 3, !Self.isRelease(collected[0]) else { return 3 }
        return 3 + (Int(collected[1]) << 8 | Int(collected[2])) + (Self.qos(collected[0]) > 0 ? 2 : 0)
    }

    private static func qos(_ kind: UInt8) -> UInt8 { kind >> 1 & 3 }
    /// PUBLISH of QoS 1 and 2, PUBREC, PUBREL and PINGREQ.
    private static func isAnswered(_ kind: UInt8) -> Bool {
        kind >> 4 == 3 ? qos(kind) > 0 : [5, 6, 12].contains(kind >> 4)
    }
    /// PUBREL (MQTT 3.1.1 section 3.6).
    private static func isRelease(_ kind: UInt8) -> Bool { kind >> 4 == 6 }

    private mutating func discard(_ left: Int, from source: Source) -> Int {
        let count = withUnsafeTemporaryAllocation(byteCount: Self.pieceBytes, alignment: 1) {
            source(.init(rebasing: $0.prefix(left)))
        }
        if count > 0 { place = left > count ? .discarding(left: left - count) : .header }
        return count
    }

    private mutating func collect(_ wanted: Int, from source: Source) -> Int {
        withUnsafeTemporaryAllocation(byteCount: wanted, alignment: 1) { bytes in
            let count = source(bytes)
            if count > 0 { collected += bytes.prefix(count) }
            return count
        }
    }

    /// Passes on what was collected, then goes on there.
    private mutating func pass(then next: Place) {
        swap(&ready, &collected)
        collected.removeAll(keepingCapacity: collected.capacity <= 64)
        (passed, place) = (0, next)
    }
}
