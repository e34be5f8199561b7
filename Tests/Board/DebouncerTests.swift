import Testing

@testable import Board

@Suite("Debouncer")
struct DebouncerTests {
    /// Changes at these milliseconds, to and fro, the last one to `level`.
    private func edges(_ times: Int..., to level: Bool) -> LineEdges {
        LineEdges(
            times.enumerated().map { index, time in
                LineEdge(time: .milliseconds(time), isActive: (times.count - index).isMultiple(of: 2) != level)
            })
    }

    private func expect(
        _ debouncer: inout Debouncer, rested level: Bool, _ event: ButtonEvent?,
        at location: SourceLocation = #_sourceLocation
    ) {
        let found = debouncer.handleRest(isActive: level)
        #expect(found == (event.map { [$0] } ?? []), sourceLocation: location)
    }

    @Test("the debouncer dates a press by its first edge, once the line has rested")
    func press() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: false, at: .zero)
        #expect(debouncer.deadline == nil)
        #expect(debouncer.handleEdges(edges(100, 102, 104, to: true)) == [])
        #expect(debouncer.handleEdges(edges(106, 109, to: true)) == [])
        #expect(debouncer.deadline == .milliseconds(129))
        expect(&debouncer, rested: true, .pressed(at: .milliseconds(100)))
        #expect(debouncer.deadline == nil)
    }

    @Test("the debouncer reports how long the button was held, from first edge to first edge")
    func release() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: false, at: .zero)
        _ = debouncer.handleEdges(edges(100, 105, 110, to: true))
        _ = debouncer.handleRest(isActive: true)
        _ = debouncer.handleEdges(edges(600, 607, 615, to: false))
        expect(&debouncer, rested: false, .released(at: .milliseconds(600), held: .milliseconds(500)))
    }

    @Test("the debouncer is silent about a glitch that ends where it began")
    func glitch() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: false, at: .zero)
        _ = debouncer.handleEdges(edges(100, 101, to: false))
        expect(&debouncer, rested: false, nil)
        _ = debouncer.handleEdges(edges(200, to: true))
        expect(&debouncer, rested: true, .pressed(at: .milliseconds(200)))
    }

    @Test("the debouncer does not treat a button stuck from the start as a press, and reports its release")
    func stuck() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: true, at: .milliseconds(40))
        _ = debouncer.handleEdges(edges(70, 75, to: true))
        expect(&debouncer, rested: true, nil)
        _ = debouncer.handleEdges(edges(100, to: false))
        expect(&debouncer, rested: false, .released(at: .milliseconds(100), held: .milliseconds(60)))
        _ = debouncer.handleEdges(edges(200, to: true))
        expect(&debouncer, rested: true, .pressed(at: .milliseconds(200)))
    }

    @Test("the debouncer reads a whole press from the times of its edges, even when handled 5 s later")
    func late() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: false, at: .zero)
        let changes = edges(100, 104, 108, 300, 303, 309, to: false)
        #expect(debouncer.handleEdges(changes) == [.pressed(at: .milliseconds(100))])
        #expect(debouncer.deadline == .milliseconds(329))
        expect(&debouncer, rested: false, .released(at: .milliseconds(300), held: .milliseconds(200)))
    }

    @Test("the debouncer separates two presses that are handled together")
    func lateTwice() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: false, at: .zero)
        #expect(
            debouncer.handleEdges(edges(100, 200, 400, 500, to: false)) == [
                .pressed(at: .milliseconds(100)), .released(at: .milliseconds(200), held: .milliseconds(100)),
                .pressed(at: .milliseconds(400)),
            ])
        expect(&debouncer, rested: false, .released(at: .milliseconds(500), held: .milliseconds(100)))
    }

    @Test("the debouncer assumes that a line moved all the time while edges were lost")
    func lost() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: false, at: .zero)
        let changes = LineEdges(edges(100, 200, 300, to: true).edges, lostUntil: .milliseconds(5000))
        #expect(debouncer.handleEdges(changes) == [])
        #expect(debouncer.deadline == .milliseconds(5020))
        expect(&debouncer, rested: false, nil)
    }
}
