/// Decides how much of a burst of messages comes together before the connection's thread is woken again.
///
/// A message that comes alone never waits, nor does the beginning of a burst: only what follows a read with several
/// messages does, until there is twice as much of it, and never longer than ``patience``. Each wake-up passes through
/// the threads of every local subscriber, and costs more than the messages themselves.
struct ReceivePace {
    static let patience = Duration.milliseconds(1)
    /// As much is worth a wake-up, however fast more of it comes.
    static let most = 4096

    /// How many bytes to wait for; 1 waits for none.
    private(set) var bytes = 1
    /// What came together before, in this burst.
    private var last = 0
    private var limit = most

    var isRaised: Bool { bytes > 1 }

    /// Messages were read.
    ///
    /// - Parameter bytes: of their topics and payloads.
    mutating func received(_ count: Int, bytes: Int) {
        guard count > 1 else {
            // A request and its answer, one after the other, are not a burst, however quick they are.
            self = ReceivePace()
            return
        }
        last = max(last, bytes)
        self.bytes = min(2 * last, limit)
    }

    /// Not as much came within ``patience``: the burst is over, or the broker sends no more before it is acknowledged.
    mutating func end() {
        limit = max(min(limit, bytes) / 2, 1)
        (bytes, last) = (1, 0)
    }
}
