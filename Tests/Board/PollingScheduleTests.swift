import Testing

@testable import Board

@Suite("Polling schedule")
struct PollingScheduleTests {
    private func schedule(_ periods: Duration..., cap: Duration = .seconds(300)) -> PollingSchedule {
        PollingSchedule(periods: periods, startingAt: .seconds(100), retryCap: cap)
    }

    @Test("the polling schedule reads all sensors at the start, then each at its period, equal periods together")
    func grid() {
        var schedule = schedule(.seconds(2), .seconds(3), .seconds(2))
        #expect(schedule.due(at: .seconds(100)).map(\.index) == [0, 1, 2])
        for index in 0...2 { schedule.recordSuccess(index, at: .seconds(100)) }
        #expect(schedule.nextDue == .seconds(102))
        #expect(schedule.due(at: .seconds(102)).map(\.index) == [0, 2])
    }

    @Test("the polling schedule keeps to the grid although it is woken late")
    func late() {
        var schedule = schedule(.seconds(10))
        schedule.recordSuccess(0, at: .milliseconds(100_900))
        #expect(schedule.nextDue == .seconds(110))
        schedule.recordSuccess(0, at: .milliseconds(110_001))
        #expect(schedule.nextDue == .seconds(120))
    }

    @Test(
        "the polling schedule skips missed points, and is never due in the past",
        arguments: [Duration.seconds(4100), .milliseconds(4_107_300)])
    func missed(now: Duration) throws {
        var schedule = schedule(.milliseconds(100))
        schedule.recordSuccess(0, at: now)
        let next = try #require(schedule.nextDue)
        #expect(next > now && next <= now + .milliseconds(100))
    }

    @Test(
        "the polling schedule retries a failing sensor less and less often, then returns it to the grid")
    func backoff() {
        var schedule = schedule(.seconds(10), cap: .seconds(35))
        var now = Duration.seconds(100)
        var delays: [Duration] = []
        for _ in 0..<4 {
            schedule.recordFailure(0, at: now)
            delays.append(schedule.nextDue! - now)
            now = schedule.nextDue!
        }
        #expect(delays == [.seconds(10), .seconds(20), .seconds(35), .seconds(35)])
        schedule.recordSuccess(0, at: now)
        #expect(schedule.nextDue == .seconds(210))
        schedule.recordFailure(0, at: .seconds(210))
        #expect(schedule.nextDue == .seconds(220))
    }

    @Test("the polling schedule does not let the cap shorten a long period")
    func longPeriod() {
        var schedule = schedule(.seconds(900), cap: .seconds(300))
        schedule.recordFailure(0, at: .seconds(100))
        schedule.recordFailure(0, at: .seconds(1000))
        #expect(schedule.nextDue == .seconds(1900))
    }
}
