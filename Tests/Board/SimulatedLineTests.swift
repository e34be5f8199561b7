import TestSupport
import Testing

@testable import Board

@Suite("A simulated line", .timeLimit(.minutes(5)))
struct SimulatedLineTests {
    private let clock = ManualClock()
    private let line: SimulatedLine

    init() { line = SimulatedLine(clock: clock) }

    private func edges(_ edges: (milliseconds: Int, isActive: Bool)..., from start: Duration) -> LineEdges {
        LineEdges(edges.map { LineEdge(time: start + .milliseconds($0.milliseconds), isActive: $0.isActive) })
    }

    @Test("a simulated line dates its edges by the time of the change")
    func dated() {
        let start = clock.now
        line.set(active: true)
        clock.move(by: .milliseconds(70))
        line.set(active: true)
        line.set(active: false)
        clock.move(by: .seconds(3))
        #expect(line.takeEdges() == edges((0, true), (70, false), from: start))
        #expect(line.takeEdges() == nil)
    }

    @Test("a simulated line is active exactly as long as stated, and wakes its waiter at the end")
    func stated() async {
        let start = clock.now
        line.press(for: .milliseconds(150))
        #expect(line.isActive())
        #expect(line.takeEdges() == edges((0, true), from: start))
        async let waiting: Void = line.waitForEdge()
        await line.awaited()
        clock.move(to: await clock.sleeper())
        await waiting
        #expect(!line.isActive())
        #expect(line.takeEdges() == edges((150, false), from: start))
    }

    @Test("a simulated line is released at the latest stated time, or at once")
    func restated() {
        let start = clock.now
        line.press(for: .milliseconds(150))
        clock.move(by: .milliseconds(100))
        line.press(for: .milliseconds(200))
        clock.move(by: .milliseconds(100))
        #expect(line.isActive())
        clock.move(by: .milliseconds(100))
        #expect(line.takeEdges() == edges((0, true), (300, false), from: start))
        line.press(for: .seconds(1))
        clock.move(by: .milliseconds(10))
        line.set(active: false)
        clock.move(by: .seconds(2))
        #expect(line.takeEdges() == edges((300, true), (310, false), from: start))
    }

    @Test("a simulated line keeps as many edges as the kernel, and says when it lost some")
    func bounded() throws {
        for count in 1...40 {
            clock.move(by: .milliseconds(1))
            line.set(active: !count.isMultiple(of: 2))
        }
        let taken = try #require(line.takeEdges())
        #expect(taken.edges.count == 16)
        #expect(taken.lostUntil == clock.now)
        line.set(active: true)
        #expect(line.takeEdges()?.lostUntil == nil)
    }
}
