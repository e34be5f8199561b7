import Groundwork

/// Bytes that went out and came in.
public struct Traffic: Sendable, Equatable {
    public var sent: Int64
    public var received: Int64

    public init(sent: Int64 = 0, received: Int64 = 0) { (self.sent, self.received) = (sent, received) }

    public var total: Int64 { sent + received }

    static func + (one: Traffic, other: Traffic) -> Traffic {
        Traffic(sent: one.sent + other.sent, received: one.received + other.received)
    }
}

/// Of a month.
public struct MonthlyTraffic: Sendable, Equatable {
    public let month: CalendarMonth
    public let used: Traffic

    public init(month: CalendarMonth, used: Traffic) { (self.month, self.used) = (month, used) }
}

/// How many bytes went out and came in this month, across boots. Pure: it is given what the kernel has counted, and
/// which month it is.
///
/// The kernel counts from the creation of an interface, so a counter begins at 0 with each boot, and when a modem is
/// plugged in again. What was counted between two looks belongs to the month of the later one.
public struct TrafficCount: Sendable, Equatable {
    private(set) var month: CalendarMonth?
    private(set) var used = Traffic()
    /// The month before, which comes back if the clock was ahead.
    private var previous: (month: CalendarMonth, used: Traffic)?
    private var last: InterfaceCounters?

    public init() {}

    /// `nil` until the clock can be right.
    public var monthly: MonthlyTraffic? { month.map { MonthlyTraffic(month: $0, used: used) } }

    /// Where a counter of the kernel wraps: 32-bit kernels have drivers that count in 32 bits.
    static let wrap: Int64? = Int.bitWidth == 32 ? 1 << 32 : nil

    /// - Parameters:
    ///   - interfaces: the ones that count.
    ///   - month: `nil` while the clock cannot be right: then the month goes on.
    public mutating func take(_ now: InterfaceCounters, of interfaces: [String], in month: CalendarMonth?) {
        take(now, of: interfaces, in: month, wrap: Self.wrap)
    }

    mutating func take(_ now: InterfaceCounters, of interfaces: [String], in month: CalendarMonth?, wrap: Int64?) {
        if let month { begin(month) }
        // The first look ever has nothing to compare with.
        if let last {
            for name in Set(interfaces) {
                guard let counter = now.counters[name] else { continue }
                let known = last.boot == now.boot ? last.counters[name] : nil
                let before = known?.index == counter.index ? known?.bytes ?? Traffic() : Traffic()
                used.sent += Self.growth(from: before.sent, to: counter.bytes.sent, wrap)
                used.received += Self.growth(from: before.received, to: counter.bytes.received, wrap)
            }
        }
        last = now
    }

    private mutating func begin(_ month: CalendarMonth) {
        if let own = self.month, month > own {
            previous = (own, used)
            used = Traffic()
        } else if let own = self.month, month < own {
            // The clock had been ahead: all of it was used in this month.
            if let previous, previous.month == month { used = used + previous.used }
            previous = nil
        }
        self.month = month
    }

    /// A counter that went back has wrapped, or began at 0 again.
    private static func growth(from before: Int64, to now: Int64, _ wrap: Int64?) -> Int64 {
        if now >= before { return now - before }
        if let wrap, before < wrap, before - now > wrap / 2 { return now + wrap - before }
        return now
    }

    public static func == (one: TrafficCount, other: TrafficCount) -> Bool { one.json == other.json }
}

// MARK: The file

extension TrafficCount {
    /// - Returns: `nil` if the bytes are not those of a count.
    public init?(parsing bytes: [UInt8]) {
        guard let json = try? JSON(parsing: bytes), let used = Traffic(json), let boot = json["boot"]?.string,
            let interfaces = json["interfaces"]?.object
        else { return nil }
        // Missing while the clock has never been right.
        month = json["month"]?.string.flatMap(CalendarMonth.init)
        self.used = used
        if let former = json["previous"], let month = former["month"]?.string.flatMap(CalendarMonth.init) {
            previous = Traffic(former).map { (month, $0) }
        }
        last = InterfaceCounters(
            boot: boot,
            counters: interfaces.compactMapValues { counter in
                guard let index = counter["index"]?.integer, let bytes = Traffic(counter) else { return nil }
                return .init(index: index, bytes: bytes)
            })
    }

    private var json: JSON {
        var members = used.members
        members["boot"] = .string(last?.boot ?? "")
        members["interfaces"] = .object(
            (last?.counters ?? [:]).mapValues { counter in
                .object(counter.bytes.members.merging(["index": .integer(counter.index)]) { own, _ in own })
            })
        members["month"] = month.map { .string($0.text) }
        if let previous {
            members["previous"] = .object(
                previous.used.members.merging(["month": .string(previous.month.text)]) { own, _ in own })
        }
        return .object(members)
    }

    public var bytes: [UInt8] { json.bytes }
}

extension Traffic {
    fileprivate init?(_ json: JSON) {
        guard let sent = json["sent"]?.integer, let received = json["received"]?.integer, sent >= 0, received >= 0,
            sent < 1 << 60, received < 1 << 60
        else { return nil }
        self.init(sent: sent, received: received)
    }

    fileprivate var members: [String: JSON] { ["sent": .integer(sent), "received": .integer(received)] }
}
