import TestSupport
import Testing

@testable import Board

@Suite("Status LED", .timeLimit(.minutes(5)))
struct StatusLEDTests {
    private let clock = ManualClock()
    private let led: StatusLED
    private let line: SimulatedLine

    init() throws {
        led = StatusLED(LineDefinition(place: .simulated), clock: clock)
        line = try #require(led.simulated)
    }

    @Test("the status LED shows a steady pattern at once and leaves the line dark at the end")
    func steady() async throws {
        await led.show(.on)
        let task = Task { try await led.run() }
        await line.becomes(active: true)
        await led.show(.off)
        await line.becomes(active: false)
        await led.show(.on)
        await line.becomes(active: true)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!line.isActive())
    }

    @Test("the status LED blinks in the requested rhythm, until another pattern is shown")
    func blinks() async throws {
        await led.show(.blinking(on: .milliseconds(100), off: .milliseconds(900)))
        let task = Task { try await led.run() }
        let start = clock.now
        for (level, next) in [(true, 100), (false, 1000), (true, 1100), (false, 2000)] {
            #expect(await clock.sleeper() == start + .milliseconds(next))
            #expect(line.isActive() == level)
            await clock.moveToSleeper()
        }
        await led.show(.on)
        await line.becomes(active: true)
        task.cancel()
        _ = await task.result
    }

    @Test("the status LED flashes the requested number of times, then pauses")
    func flashes() throws {
        let round = try #require(LEDPattern.flashing(times: 3, pause: .seconds(2)).round)
        #expect(round.map(\.isOn) == [true, false, true, false, true, false])
        #expect(round.last?.lasts == .seconds(2))
    }

    @Test("the status LED never changes faster than an eye can see")
    func bounded() throws {
        let round = try #require(LEDPattern.blinking(on: .zero, off: .nanoseconds(1)).round)
        #expect(round.allSatisfy { $0.lasts >= .milliseconds(50) })
    }
}

extension SimulatedLine {
    /// Returns when the line has this level.
    func becomes(active: Bool) async {
        while isActive() != active, !Task.isCancelled { await Task.yield() }
    }
}
