import Groundwork
import TestSupport
import Testing

@testable import Board

@Suite("Button", .timeLimit(.minutes(5)))
struct ButtonTests {
    /// A simulated button that is being watched.
    private struct Watched {
        let clock = ManualClock()
        let button: Button
        let line: SimulatedLine
        var updates: AsyncStream<ButtonUpdate>.Iterator
        let task: Task<Void, any Error>

        init(pressed: Bool = false) async throws {
            let button = Button(LineDefinition(place: .simulated, debounce: .milliseconds(20)), clock: clock)
            self.button = button
            line = try #require(button.simulated)
            line.set(active: pressed)
            _ = line.takeEdges()
            updates = button.updates.subscribe().makeAsyncIterator()
            task = Task { try await button.run() }
            await line.awaited()
        }

        /// Lets the debounce time pass.
        func rest() async {
            await clock.moveToSleeper()
            await line.awaited()
        }
    }

    @Test("a button gives one press and one release with its duration, however it bounces")
    func bounces() async throws {
        var watched = try await Watched()
        let start = watched.clock.now
        for active in [true, false, true, false, true] {
            watched.line.set(active: active)
            _ = await watched.clock.sleeper()
            watched.clock.move(by: .milliseconds(3))
        }
        #expect(await watched.clock.sleeper() == start + .milliseconds(20))
        await watched.clock.moveToSleeper()
        // The last edge came 12 ms after the first: the line has rested when 20 ms have passed since.
        #expect(await watched.clock.sleeper() == start + .milliseconds(32))
        await watched.rest()
        #expect(await watched.updates.next() == .happened(.pressed(at: start)))

        watched.clock.move(to: start + .milliseconds(500))
        watched.line.set(active: false)
        await watched.rest()
        let end = start + .milliseconds(500)
        #expect(await watched.updates.next() == .happened(.released(at: end, held: .milliseconds(500))))
        watched.task.cancel()
    }

    @Test("a button reports that it was down when watching began, which is not a press, and its release")
    func stuck() async throws {
        var watched = try await Watched(pressed: true)
        let start = watched.clock.now
        #expect(await watched.updates.next() == .happened(.foundDown(at: start)))
        watched.clock.move(to: start + .seconds(60))
        watched.line.set(active: false)
        await watched.rest()
        #expect(await watched.updates.next() == .happened(.released(at: start + .seconds(60), held: .seconds(60))))
        watched.line.set(active: true)
        let pressed = watched.clock.now
        await watched.rest()
        #expect(await watched.updates.next() == .happened(.pressed(at: pressed)))
        watched.task.cancel()
    }

    @Test("a button reports a press of a stated length exactly, however late it is handled")
    func late() async throws {
        var watched = try await Watched()
        let start = watched.clock.now
        watched.line.press(for: .milliseconds(200))
        watched.clock.move(by: .seconds(5))
        try await watched.button.look()
        #expect(await watched.updates.next() == .happened(.pressed(at: start)))
        let end = start + .milliseconds(200)
        #expect(await watched.updates.next() == .happened(.released(at: end, held: .milliseconds(200))))
        #expect(await watched.updates.next() == .watched(until: start + .seconds(5)))
        watched.task.cancel()
    }

    @Test("a button that is checked while bouncing reports after it has rested")
    func looked() async throws {
        var watched = try await Watched()
        let start = watched.clock.now
        let button = watched.button
        watched.line.set(active: true)
        async let look: Void = button.look()
        _ = await watched.clock.sleeper(until: start + .milliseconds(20))
        watched.clock.move(by: .milliseconds(20))
        try await look
        #expect(await watched.updates.next() == .happened(.pressed(at: start)))
        #expect(await watched.updates.next() == .watched(until: start + .milliseconds(20)))
        watched.task.cancel()
    }

    @Test("a button that is not watched reports nothing when checked")
    func unwatched() async throws {
        let button = Button(LineDefinition(place: .simulated))
        try await button.look()
    }

    @Test("a button stops watching when it is canceled, and can be watched again")
    func cancelled() async throws {
        let watched = try await Watched()
        watched.task.cancel()
        await #expect(throws: CancellationError.self) { try await watched.task.value }
        let again = Task { try await watched.button.run() }
        await watched.line.awaited()
        again.cancel()
        await #expect(throws: CancellationError.self) { try await again.value }
    }

    @Test("a button reports the missing chip, and the chips there are")
    func absentChip() async throws {
        let place = LineDefinition.Place.gpio(chip: "pinctrl-rp1", line: .name("GPIO17"))
        let button = Button(LineDefinition(place: place), on: try FakeTree().machine)
        await #expect(throws: BoardError.chipAbsent(label: "pinctrl-rp1", present: [])) { try await button.run() }
    }
}

extension SimulatedLine {
    /// Returns when somebody waits for an edge.
    func awaited() async {
        while !isAwaited, !Task.isCancelled { await Task.yield() }
    }
}
