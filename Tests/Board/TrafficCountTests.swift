import Foundation
import TestSupport
import Testing

@testable import Board

@Suite("Bytes of a month")
struct TrafficCountTests {
    private typealias Counter = InterfaceCounters.Counter

    private let november = CalendarMonth("2026-11")!
    private let december = CalendarMonth("2026-12")!

    private func counters(_ all: [String: (Int64, Int64, Int64)], boot: String = "a") -> InterfaceCounters {
        InterfaceCounters(
            boot: boot,
            counters: all.mapValues { Counter(index: $0.0, bytes: Traffic(sent: $0.1, received: $0.2)) })
    }

    /// A count after these looks at one interface, `(boot, index, sent)`.
    private func count(_ looks: [(String, Int64, Int64)], wrap: Int64? = nil) -> Int64 {
        var count = TrafficCount()
        for (boot, index, sent) in looks {
            count.take(counters(["eth0": (index, sent, 0)], boot: boot), of: ["eth0"], in: november, wrap: wrap)
        }
        return count.used.sent
    }

    @Test("what was sent before the first look does not count, and what is sent between looks does")
    func first() {
        #expect(count([("a", 2, 500)]) == 0)
        #expect(count([("a", 2, 500), ("a", 2, 700), ("a", 2, 700)]) == 200)
    }

    @Test("a counter begins at 0 with a boot, with an interface of another number, and when its driver says so")
    func restarts() {
        #expect(count([("a", 2, 500), ("a", 2, 700), ("b", 2, 900)]) == 1100)
        #expect(count([("a", 2, 500), ("a", 3, 600)]) == 600)
        #expect(count([("a", 2, 500), ("a", 2, 40)]) == 40)
    }

    @Test("a counter of 32 bits wraps")
    func wraps() {
        let end: Int64 = 1 << 32
        #expect(count([("a", 2, end - 100), ("a", 2, 50)], wrap: end) == 150)
        #expect(count([("a", 2, 1000), ("a", 2, 50)], wrap: end) == 50)
        #expect(count([("a", 2, end - 100), ("a", 2, 50)]) == 50)
    }

    @Test("only interfaces that lead out count, and one that begins to does from then on")
    func swap() {
        var count = TrafficCount()
        count.take(counters(["eth0": (2, 100, 10), "wwan0": (3, 1000, 100)]), of: ["eth0"], in: november)
        count.take(counters(["eth0": (2, 150, 15), "wwan0": (3, 5000, 500)]), of: ["eth0"], in: november)
        #expect(count.used == Traffic(sent: 50, received: 5))
        count.take(counters(["eth0": (2, 250, 25), "wwan0": (3, 5007, 507)]), of: ["wwan0"], in: november)
        #expect(count.used == Traffic(sent: 57, received: 12))
        count.take(counters(["eth0": (2, 250, 25)]), of: ["wwan0"], in: november)
        // Plugged in again.
        count.take(counters(["wwan0": (4, 3, 1)]), of: ["wwan0", "wwan0"], in: november)
        #expect(count.used == Traffic(sent: 60, received: 13))
    }

    @Test("a new month begins with what is counted in it; without a clock the month goes on")
    func months() {
        var count = TrafficCount()
        for (sent, month) in [(100, nil), (110, nil), (130, november), (190, nil), (200, december)] {
            count.take(counters(["eth0": (2, Int64(sent), 0)]), of: ["eth0"], in: month)
        }
        #expect(count.month == december)
        #expect(count.used.sent == 10)
    }

    @Test("a clock that was ahead for a while gives no month's bytes anew")
    func clockAhead() {
        var count = TrafficCount()
        let may = CalendarMonth("2031-05")!
        for (sent, month) in [(0, november), (100, november), (130, may), (150, november)] {
            count.take(counters(["eth0": (2, Int64(sent), 0)]), of: ["eth0"], in: month)
        }
        #expect(count.monthly == MonthlyTraffic(month: november, used: Traffic(sent: 150)))
        count.take(counters(["eth0": (2, 151, 0)]), of: ["eth0"], in: CalendarMonth("2026-10"))
        #expect(count.used.sent == 151)
    }

    @Test("a count counts what was sent, whatever happens between the looks", arguments: 1...40)
    func property(seed: UInt64) throws {
        var random = Chance(seed: seed)
        var count = TrafficCount()
        var (boot, nextIndex, month) = (0, Int64(2), 12 * 2026)
        var interfaces = ["eth0": Counter(index: 1, bytes: Traffic())]
        var (truth, leading) = (Traffic(), "eth0")
        func name(_ number: Int) -> CalendarMonth {
            CalendarMonth("\(number / 12)-\(number % 12 + 1 < 10 ? "0" : "")\(number % 12 + 1)")!
        }
        func look() throws {
            count.take(InterfaceCounters(boot: "\(boot)", counters: interfaces), of: [leading], in: name(month))
            // As after a restart of the agent.
            count = try #require(TrafficCount(parsing: count.bytes))
        }
        try look()
        for _ in 0..<300 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                try look()
                (boot, nextIndex, interfaces) = (boot + 1, 2, [leading: Counter(index: 1, bytes: Traffic())])
            case 1:
                try look()
                interfaces[leading] = Counter(index: nextIndex, bytes: Traffic())
                nextIndex += 1
            case 2:
                try look()
                leading = ["eth0", "wlan0", "wwan0"].randomElement(using: &random)!
                if interfaces[leading] == nil {
                    interfaces[leading] = Counter(index: nextIndex, bytes: Traffic())
                    nextIndex += 1
                }
                try look()
            case 3 where Int.random(in: 0..<5, using: &random) == 0:
                try look()
                (month, truth) = (month + 1, Traffic())
            case 4: try look()
            default:
                let bytes = Traffic(
                    sent: .random(in: 0...1 << 33, using: &random), received: .random(in: 0...1 << 33, using: &random))
                truth = truth + bytes
                let before = try #require(interfaces[leading])
                interfaces[leading] = Counter(index: before.index, bytes: before.bytes + bytes)
                for other in interfaces.keys where other != leading { interfaces[other]?.bytes.sent += 77 }
            }
        }
        try look()
        #expect(count.monthly == MonthlyTraffic(month: name(month), used: truth))
    }

    @Test("a count survives its file, and no other bytes are taken for one")
    func file() throws {
        var count = TrafficCount()
        #expect(TrafficCount(parsing: count.bytes) == count)
        for (sent, month) in [(0, nil), (10, november), (25, december)] {
            count.take(counters(["eth0": (2, Int64(sent), 7)]), of: ["eth0"], in: month)
            #expect(TrafficCount(parsing: count.bytes) == count)
        }
        for text in ["", "{", "[]", "{}", #"{"boot":"a","interfaces":{},"sent":-1,"received":0}"#] {
            #expect(TrafficCount(parsing: Array(text.utf8)) == nil)
        }
        for end in 0..<count.bytes.count { #expect(TrafficCount(parsing: Array(count.bytes.prefix(end))) == nil) }
    }

    @Test("the kernel's counters are read by interface")
    func kernel() throws {
        let tree = try FakeTree([
            "/proc/sys/kernel/random/boot_id": "1b4e28ba-2fa1-11d2-883f-0016d3cca427\n",
            "/proc/net/dev": """
            Inter-|   Receive                                                |  Transmit
             face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
                lo:   44      3    0    0    0     0          0         0   44 3    0    0    0     0       0          0
              eth0:771583779   46182    0    0    0     0          0         0  3677189   40017    0    0    0     0       0          0
              odd: x

            """, "/sys/class/net/eth0/ifindex": "2\n",
        ])
        let found = try #require(InterfaceCounters(of: tree.machine))
        #expect(found.boot == "1b4e28ba-2fa1-11d2-883f-0016d3cca427")
        #expect(found.counters["eth0"] == Counter(index: 2, bytes: Traffic(sent: 3_677_189, received: 771_583_779)))
        #expect(found.counters.keys.sorted() == ["eth0", "lo"])
        #expect(InterfaceCounters(of: try FakeTree().machine) == nil)
        #expect(InterfaceCounters(of: Machine())?.counters["lo"] != nil)
    }

    @Test(
        "a month of the calendar ends in UTC",
        arguments: [
            (1_793_491_199, "2026-10", 1_793_491_200), (1_793_491_200, "2026-11", 1_796_083_200),
            (1_798_761_599, "2026-12", 1_798_761_600), (0, "1970-01", 2_678_400),
        ])
    func month(seconds: Int, text: String, end: Int) {
        let month = CalendarMonth(of: Date(timeIntervalSince1970: TimeInterval(seconds)))
        #expect(month.text == text)
        #expect(month.end == Date(timeIntervalSince1970: TimeInterval(end)))
        #expect(CalendarMonth(text) == month)
    }

    @Test(
        "a text that is no month is none", arguments: ["", "2026", "2026-13", "2026-00", "26-11", "2026-1", "+026-11"])
    func noMonth(text: String) { #expect(CalendarMonth(text) == nil) }
}
