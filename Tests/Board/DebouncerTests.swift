import Testing

@testable import Board

@Suite("Debouncer")
struct DebouncerTests {
    private func edges(_ first: Int, _ newest: Int) -> EdgeBurst {
        EdgeBurst(first: .milliseconds(first), newest: .milliseconds(newest))
    }

    private func expect(
        _ debouncer: inout Debouncer, rested level: Bool, _ event: ButtonEvent?,
        at location: SourceLocation = #_sourceLocation
    ) {
        let found = debouncer.rested(isActive: level)
        #expect(found == event, sourceLocation: location)
    }

    @Test("dates a press by its first edge, once the line has rested")
    func press() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: false, at: .zero)
        #expect(debouncer.deadline == nil)
        debouncer.moved(edges(100, 104))
        debouncer.moved(edges(106, 109))
        #expect(debouncer.deadline == .milliseconds(129))
        expect(&debouncer, rested: true, .pressed(at: .milliseconds(100)))
        #expect(debouncer.deadline == nil)
    }

    @Test("says how long the button was held, from first edge to first edge")
    func release() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: false, at: .zero)
        debouncer.moved(edges(100, 110))
        _ = debouncer.rested(isActive: true)
        debouncer.moved(edges(600, 615))
        expect(&debouncer, rested: false, .released(at: .milliseconds(600), held: .milliseconds(500)))
    }

    @Test("is silent about a glitch that ends where it began")
    func glitch() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: false, at: .zero)
        debouncer.moved(edges(100, 101))
        expect(&debouncer, rested: false, nil)
        debouncer.moved(edges(200, 200))
        expect(&debouncer, rested: true, .pressed(at: .milliseconds(200)))
    }

    @Test("takes a button that is stuck from the start for no press, and tells when it comes up")
    func stuck() {
        var debouncer = Debouncer(rest: .milliseconds(20), isActive: true, at: .milliseconds(40))
        debouncer.moved(edges(70, 75))
        expect(&debouncer, rested: true, nil)
        debouncer.moved(edges(100, 100))
        expect(&debouncer, rested: false, .released(at: .milliseconds(100), held: .milliseconds(60)))
        debouncer.moved(edges(200, 200))
        expect(&debouncer, rested: true, .pressed(at: .milliseconds(200)))
    }
}
