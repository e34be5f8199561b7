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
        let found = debouncer.rested(isActive: level)
        #expect(found == (event.map { [$0] } ?? []), sourceLocation: location)
    }

    @Test("dates a press by its first edge, once the line has rested")
    func press() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: false, at: .zero)
        #expect(debouncer.deadline == nil)
        #expect(debouncer.moved(edges(100, 102, 104, to: true)) == [])
        #expect(debouncer.moved(edges(106, 109, to: true)) == [])
        #expect(debouncer.deadline == .milliseconds(129))
        expect(&debouncer, rested: true, .pressed(at: .milliseconds(100)))
        #expect(debouncer.deadline == nil)
    }

    @Test("says how long the button was held, from first edge to first edge")
    func release() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: false, at: .zero)
        _ = debouncer.moved(edges(100, 105, 110, to: true))
        _ = debouncer.rested(isActive: true)
        _ = debouncer.moved(edges(600, 607, 615, to: false))
        expect(&debouncer, rested: false, .released(at: .milliseconds(600), held: .milliseconds(500)))
    }

    @Test("is silent about a glitch that ends where it began")
    func glitch() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: false, at: .zero)
        _ = debouncer.moved(edges(100, 101, to: false))
        expect(&debouncer, rested: false, nil)
        _ = debouncer.moved(edges(200, to: true))
        expect(&debouncer, rested: true, .pressed(at: .milliseconds(200)))
    }

    @Test("takes a button that is stuck from the start for no press, and tells when it comes up")
    func stuck() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: true, at: .milliseconds(40))
        _ = debouncer.moved(edges(70, 75, to: true))
        expect(&debouncer, rested: true, nil)
        _ = debouncer.moved(edges(100, to: false))
        expect(&debouncer, rested: false, .released(at: .milliseconds(100), held: .milliseconds(60)))
        _ = debouncer.moved(edges(200, to: true))
        expect(&debouncer, rested: true, .pressed(at: .milliseconds(200)))
    }

    @Test("reads the whole of a press from the times of its edges, when they are handled 5 s later")
    func late() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: false, at: .zero)
        let changes = edges(100, 104, 108, 300, 303, 309, to: false)
        #expect(debouncer.moved(changes) == [.pressed(at: .milliseconds(100))])
        #expect(debouncer.deadline == .milliseconds(329))
        expect(&debouncer, rested: false, .released(at: .milliseconds(300), held: .milliseconds(200)))
    }

    @Test("keeps two presses apart that are handled together")
    func lateTwice() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: false, at: .zero)
        #expect(
            debouncer.moved(edges(100, 200, 400, 500, to: false)) == [
                .pressed(at: .milliseconds(100)), .released(at: .milliseconds(200), held: .milliseconds(100)),
                .pressed(at: .milliseconds(400)),
            ])
        expect(&debouncer, rested: false, .released(at: .milliseconds(500), held: .milliseconds(100)))
    }

    @Test("takes a line whose edges were lost to have moved all the while")
    func lost() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: false, at: .zero)
        let changes = LineEdges(edges(100, 200, 300, to: true).edges, lostUntil: .milliseconds(5000))
        #expect(debouncer.moved(changes) == [])
        #expect(debouncer.deadline == .milliseconds(5020))
        expect(&debouncer, rested: false, nil)
    }
}
