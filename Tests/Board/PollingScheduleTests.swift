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

    @Test("the polling schedule reads a failing sensor again soon, for the time that was due, before it is down")
    func soon() {
        var schedule = schedule(.seconds(60), .seconds(60))
        schedule.recordSuccess(1, at: .seconds(100))
        var now = Duration.milliseconds(100_300)
        for pause in PollingSchedule.soon {
            #expect(schedule.recordFailure(0, at: now) == .readAgainSoon)
            now += pause
            #expect(schedule.nextDue == now)
            #expect(schedule.due(at: now).map(\.at) == [.seconds(100)])
        }
        #expect(schedule.recordFailure(0, at: now) == .down)
        #expect(schedule.due(at: now + .seconds(60)).map(\.at) == [now + .seconds(60), .seconds(160)])
    }

    @Test("the polling schedule has a sensor on its grid again that fails once, and counts its failures anew")
    func once() {
        var schedule = schedule(.seconds(60))
        for point in [100, 160, 220].map(Duration.seconds) {
            #expect(schedule.recordFailure(0, at: point) == .readAgainSoon)
            schedule.recordSuccess(0, at: point + .seconds(2))
            #expect(schedule.nextDue == point + .seconds(60))
        }
    }

    @Test("the polling schedule reads a failing sensor no later than its period says")
    func shortPeriod() {
        var schedule = schedule(.milliseconds(500))
        #expect(schedule.recordFailure(0, at: .seconds(100)) == .readAgainSoon)
        #expect(schedule.nextDue == .milliseconds(100_500))
        #expect(schedule.recordFailure(0, at: .milliseconds(100_500)) == .readAgainSoon)
        #expect(schedule.nextDue == .milliseconds(101_000))
    }

    @Test(
        "the polling schedule retries a sensor that is down less and less often, then returns it to the grid")
    func backoff() {
        var schedule = schedule(.seconds(10), cap: .seconds(35))
        var now = Duration.seconds(100)
        var delays: [Duration] = []
        for _ in 0..<4 {
            #expect(schedule.recordFailure(0, at: now, mayPass: false) == .down)
            delays.append(schedule.nextDue! - now)
            now = schedule.nextDue!
        }
        #expect(delays == [.seconds(10), .seconds(20), .seconds(35), .seconds(35)])
        schedule.recordSuccess(0, at: now)
        #expect(schedule.nextDue == .seconds(210))
        #expect(schedule.recordFailure(0, at: .seconds(210), mayPass: false) == .down)
        #expect(schedule.nextDue == .seconds(220))
    }

    @Test("the polling schedule does not let the cap shorten a long period")
    func longPeriod() {
        var schedule = schedule(.seconds(900), cap: .seconds(300))
        #expect(schedule.recordFailure(0, at: .seconds(100), mayPass: false) == .down)
        #expect(schedule.recordFailure(0, at: .seconds(1000)) == .down)
        #expect(schedule.nextDue == .seconds(1900))
    }
}
