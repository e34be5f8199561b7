import Groundwork

/// What the kernel has counted of each interface, at one time.
public struct InterfaceCounters: Sendable, Equatable {
    /// Of one interface, in bytes since it was created.
    public struct Counter: Sendable, Equatable {
        /// The kernel's number of the interface, which it never uses twice until the next boot.
        public var index: Int64
        public var bytes: Traffic

        public init(index: Int64, bytes: Traffic) { (self.index, self.bytes) = (index, bytes) }
    }

    /// The most interfaces that are looked at.
    static let limit = 64

    /// Identifies the boot.
    public var boot: String
    public var counters: [String: Counter]

    public init(boot: String, counters: [String: Counter]) {
        (self.boot, self.counters) = (boot, counters)
    }

    /// Reads `/proc/net/dev` (proc_pid_net(5)) and the numbers of the interfaces; `nil` where there is none.
    ///
    ///     Inter-|   Receive                                                |  Transmit
    ///      face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls …
    ///      eth0: 771583    46182    0    0    0     0          0         0   367718    40017    0    0    0     0 …
    public init?(of machine: Machine) {
        guard let bytes = try? BoundedFile.read(machine.path("/proc/net/dev"), limit: 1 << 20),
            let boot = try? BoundedFile.read(machine.path("/proc/sys/kernel/random/boot_id"), limit: 64)
        else { return nil }
        self.boot = String(decoding: boot.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        counters = [:]
        for line in bytes.split(separator: UInt8(ascii: "\n")).dropFirst(2).prefix(Self.limit) {
            // The first number may follow the colon at once.
            let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ":") }
            guard words.count > 9, let received = Self.number(words[1]), let sent = Self.number(words[9]) else {
                continue
            }
            let name = String(decoding: words[0], as: UTF8.self)
            let index = (try? BoundedFile.read(machine.path("/sys/class/net/\(name)/ifindex"), limit: 32)).flatMap {
                Self.number($0.prefix { $0 != UInt8(ascii: "\n") })
            }
            counters[name] = Counter(index: index ?? 0, bytes: Traffic(sent: sent, received: received))
        }
    }

    private static func number(_ bytes: some Collection<UInt8>) -> Int64? {
        Int64(String(decoding: bytes, as: UTF8.self)).flatMap { $0 >= 0 ? $0 : nil }
    }
}
