import TestSupport
import Testing

@testable import Proximity

@Suite("Gestures at the button")
struct ButtonGestureTests {
    /// Milliseconds on the clock.
    private func ms(_ value: Int) -> Duration { .milliseconds(value) }

    private func asked(at time: Int = 1000) -> ButtonGestures {
        var gestures = ButtonGestures()
        #expect(gestures.ask(at: ms(time)) == [])
        return gestures
    }

    @Test("a short press of the button grants, but only once no second one can follow")
    func short() {
        var gestures = asked()
        #expect(gestures.pressed(at: ms(2000)) == [])
        #expect(gestures.released(at: ms(2150)) == [])
        #expect(gestures.deadline == ms(2550))
        #expect(gestures.expire(at: ms(2549)) == [])
        #expect(gestures.expire(at: ms(2550)) == [.grant])
        #expect(gestures.expire(at: ms(9000)) == [])
    }

    @Test("a press that was let go after 200 ms is short, even when its edges are reported 5 s later")
    func shortToldLate() {
        var gestures = asked()
        #expect(gestures.pressed(at: ms(2000)) == [])
        #expect(gestures.deadline == ms(3500), "then it has to be seen whether it was let go before")
        #expect(gestures.released(at: ms(2200)) == [])
        #expect(gestures.expire(at: ms(7000)) == [.grant])
    }

    @Test("a long press refuses when it has lasted 1.5 s, not when it ends")
    func long() {
        var gestures = asked()
        #expect(gestures.pressed(at: ms(2000)) == [])
        #expect(gestures.deadline == ms(3500))
        #expect(gestures.expire(at: ms(3499)) == [])
        #expect(gestures.expire(at: ms(3500)) == [.refuse])
        #expect(gestures.released(at: ms(3900)) == [])
        #expect(gestures.expire(at: ms(9000)) == [])
    }

    @Test("a long press whose end comes first refuses all the same")
    func longToldLate() {
        var gestures = asked()
        _ = gestures.pressed(at: ms(2000))
        #expect(gestures.released(at: ms(3700)) == [.refuse])
        #expect(gestures.expire(at: ms(9000)) == [])
    }

    @Test("two presses of the button end sharing, at the second one's begin, and grant nothing")
    func double() {
        var gestures = asked()
        _ = gestures.pressed(at: ms(2000))
        _ = gestures.released(at: ms(2100))
        #expect(gestures.pressed(at: ms(2450)) == [.endSharing])
        #expect(gestures.expire(at: ms(4200)) == [])
        #expect(gestures.released(at: ms(4300)) == [])
        #expect(gestures.expire(at: ms(9000)) == [])
    }

    @Test("a second press within 400 ms is one of a pair; a later one is not")
    func pairWindow() {
        var gestures = asked()
        _ = gestures.pressed(at: ms(2000))
        _ = gestures.released(at: ms(2100))
        #expect(gestures.expire(at: ms(2499)) == [])
        #expect(gestures.pressed(at: ms(2499)) == [.endSharing])

        var other = asked()
        _ = other.pressed(at: ms(2000))
        _ = other.released(at: ms(2100))
        #expect(other.pressed(at: ms(2500)) == [.grant])
    }

    @Test("two presses end sharing even while nothing is asked, and other presses mean nothing then")
    func nothingAsked() {
        var gestures = ButtonGestures()
        _ = gestures.pressed(at: ms(100))
        _ = gestures.released(at: ms(200))
        #expect(gestures.expire(at: ms(1000)) == [])
        _ = gestures.pressed(at: ms(2000))
        #expect(gestures.expire(at: ms(3500)) == [])
        _ = gestures.released(at: ms(3600))
        _ = gestures.pressed(at: ms(5000))
        _ = gestures.released(at: ms(5100))
        #expect(gestures.pressed(at: ms(5200)) == [.endSharing])
    }

    @Test("a press that began before the question never answers it", arguments: [1100, 1300, 2400, 2600, 5000])
    func before(end: Int) {
        var gestures = ButtonGestures()
        _ = gestures.pressed(at: ms(1000))
        #expect(gestures.ask(at: ms(1050)) == [.fault(.downWhenAsked)])
        let outcomes = gestures.expire(at: ms(end)) + gestures.released(at: ms(end)) + gestures.expire(at: ms(9000))
        #expect(outcomes == [.recovered])
    }

    @Test("a press that ended just before the question does not answer it")
    func pendingTap() {
        var gestures = ButtonGestures()
        _ = gestures.pressed(at: ms(1000))
        _ = gestures.released(at: ms(1100))
        #expect(gestures.ask(at: ms(1200)) == [])
        #expect(gestures.expire(at: ms(9000)) == [])
    }

    @Test("a press that is told of late, but began before the question, does not answer it")
    func toldLate() {
        var gestures = asked(at: 1000)
        _ = gestures.pressed(at: ms(990))
        _ = gestures.released(at: ms(1100))
        #expect(gestures.expire(at: ms(9000)) == [])
    }

    @Test("a press of an earlier question does not answer the next")
    func nextQuestion() {
        var gestures = asked(at: 1000)
        _ = gestures.pressed(at: ms(1500))
        gestures.close()
        #expect(gestures.ask(at: ms(1600)) == [.fault(.downWhenAsked)])
        #expect(gestures.released(at: ms(1700)) == [.recovered])
        #expect(gestures.expire(at: ms(9000)) == [])
    }

    @Test("a button down for 10 s is stuck: reported, again at each question, and good again when it comes up")
    func stuck() {
        var gestures = ButtonGestures()
        _ = gestures.pressed(at: ms(1000))
        #expect(gestures.expire(at: ms(2500)) == [])
        #expect(gestures.deadline == ms(11_000))
        #expect(gestures.expire(at: ms(11_000)) == [.fault(.stuck)])
        #expect(gestures.deadline == nil)
        #expect(gestures.ask(at: ms(12_000)) == [.fault(.stuck)])
        #expect(gestures.expire(at: ms(60_000)) == [])
        #expect(gestures.released(at: ms(60_000)) == [.recovered])
        #expect(gestures.expire(at: ms(90_000)) == [])
        _ = gestures.pressed(at: ms(91_000))
        _ = gestures.released(at: ms(91_100))
        #expect(gestures.expire(at: ms(92_000)) == [.grant])
    }

    @Test("a button that is down from the start is stuck after 10 s, and grants, refuses and ends nothing")
    func foundDown() {
        var gestures = ButtonGestures()
        #expect(gestures.foundDown(at: ms(1000)) == [])
        #expect(gestures.deadline == ms(11_000))
        #expect(gestures.expire(at: ms(10_999)) == [])
        #expect(gestures.expire(at: ms(11_000)) == [.fault(.stuck)])
        #expect(gestures.ask(at: ms(12_000)) == [.fault(.stuck)])
        #expect(gestures.released(at: ms(13_000)) == [.recovered])
        #expect(gestures.pressed(at: ms(13_100)) == [])
        #expect(gestures.fault == nil)
    }

    @Test(
        "a button that is found down and let go at once answers nothing, nor is it half of a pair",
        arguments: [false, true])
    func foundDownBriefly(isAsked: Bool) {
        var gestures = isAsked ? asked() : ButtonGestures()
        #expect(gestures.foundDown(at: ms(1500)) == (isAsked ? [.fault(.downWhenAsked)] : []))
        #expect(gestures.released(at: ms(1600)) == (isAsked ? [.recovered] : []))
        _ = gestures.pressed(at: ms(1700))
        #expect(gestures.released(at: ms(1800)) + gestures.expire(at: ms(1900)) == [])
        #expect(gestures.expire(at: ms(9000)) == (isAsked ? [.grant] : []))
    }

    @Test("a button that is not there is reported, again at each question, and says nothing")
    func missing() {
        var gestures = ButtonGestures()
        #expect(gestures.lost() == [.fault(.missing)])
        #expect(gestures.lost() == [])
        #expect(gestures.ask(at: ms(1000)) == [.fault(.missing)])
        #expect(gestures.pressed(at: ms(2000)) + gestures.released(at: ms(2100)) + gestures.expire(at: ms(9000)) == [])
        #expect(gestures.found() == [.recovered])
        #expect(gestures.found() == [])
    }

    @Test("a button that is lost while it is down has not been pressed")
    func lostWhileDown() {
        var gestures = asked()
        _ = gestures.pressed(at: ms(2000))
        #expect(gestures.lost() == [.fault(.missing)])
        #expect(gestures.found() == [.recovered])
        #expect(gestures.released(at: ms(2100)) == [])
        #expect(gestures.expire(at: ms(9000)) == [])
    }
}
