import Board
import Dispatch
import Testing

@Suite("Monotonic clock")
struct MonotonicClockTests {
    /// The kernel's clock that dates GPIO edges: `DispatchTime` reads `CLOCK_MONOTONIC`.
    private var kernelNow: Duration { .nanoseconds(DispatchTime.now().uptimeNanoseconds) }

    @Test("the monotonic clock is on the scale on which the kernel dates GPIO edges")
    func scale() {
        let (before, now, after) = (kernelNow, MonotonicClock().now, kernelNow)
        #expect(before <= now && now <= after)
    }

    @Test("the monotonic clock sleeps until a time, not at all when that is past", .timeLimit(.minutes(5)))
    func sleeps() async throws {
        let clock = MonotonicClock()
        try await clock.sleep(until: .zero, isolation: nil)
        let deadline = clock.now + .milliseconds(20)
        try await clock.sleep(until: deadline, isolation: nil)
        #expect(clock.now >= deadline)
    }
}
