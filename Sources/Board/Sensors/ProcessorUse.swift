/// How busy the processors are, from one reading of their counters to the next; at first since the kernel started.
struct ProcessorUse {
    /// Of all processors together, in ticks since the kernel started.
    private var last = (busy: 0.0, total: 0.0)
    private var percent = 0.0

    /// - Parameter stat: `/proc/stat`, whose first line has the ticks in each state: user, nice, system, idle, iowait,
    ///   irq, softirq and steal; time of guests, which follows, is part of the first two (proc_stat(5)).
    /// - Returns: the share of the time since the last call that they were busy, in percent, or once more the last one
    ///   if no tick has passed; `nil` if the content is not as expected.
    mutating func percent(after stat: [UInt8]) -> Double? {
        let words = stat.prefix { $0 != UInt8(ascii: "\n") }.split(separator: UInt8(ascii: " "))
        let states = words.dropFirst().prefix(8)
        let ticks = states.compactMap { DriverNumber.parse($0) }
        let total = ticks.reduce(0, +)
        guard words.first?.elementsEqual("cpu".utf8) == true, ticks.count == states.count, ticks.count >= 5,
            total.isFinite
        else { return nil }
        // Waiting for a disk is idle time too.
        let busy = total - ticks[3] - ticks[4]
        let passed = total - last.total
        // The kernel's counter of iowait may go back by some ticks.
        if passed > 0 { percent = min(max((busy - last.busy) / passed, 0), 1) * 100 }
        last = (busy, total)
        return percent
    }
}
