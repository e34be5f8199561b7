import Foundation
import Gateway
import Groundwork
import Messaging
import Prompts
import Proximity
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentNearby

@Suite("Keeper of sharing")
struct SharingKeeperTests {
    @Test("sharing set to always begins at the start, after each log-in, and after an end by itself")
    func always() {
        var keeper = SharingKeeper(.always)
        #expect(keeper.take(.ready) == [.offer])
        #expect(keeper.take(.loggedIn) == [.endForFormerUser, .offer])
        for end in [SharingEnd.done, .expired, .cancelled] { #expect(keeper.take(.ended(end)) == [.offer]) }
        #expect(keeper.take(.due) == [.offer])
        #expect(keeper.take(.loggedOut) == [.endForFormerUser])
        #expect(keeper.take(.ended(.requested)) == [], "who ended it has said why")
    }

    @Test("sharing set to always that a person ended begins again only with the next log-in")
    func unwanted() {
        var keeper = SharingKeeper(.always)
        #expect(keeper.take(.unwanted) == [])
        for change in [SharingKeeper.Change.ended(.requested), .ended(.expired), .ready, .due] {
            #expect(keeper.take(change) == [], "\(change)")
        }
        #expect(keeper.take(.loggedIn) == [.endForFormerUser, .offer])
        #expect(keeper.take(.ready) == [.offer])
    }

    @Test(
        "sharing not set to always never begins by itself, and ends when its user changes",
        arguments: [
            ProximitySettings.Share.never, .button,
        ])
    func asked(policy: ProximitySettings.Share) {
        var keeper = SharingKeeper(policy)
        for change in [SharingKeeper.Change.ready, .due, .ended(.done), .ended(.expired), .unwanted] {
            #expect(keeper.take(change) == [], "\(change)")
        }
        #expect(keeper.take(.loggedIn) == [.endForFormerUser])
        #expect(keeper.take(.loggedOut) == [.endForFormerUser])
    }

    @Test("a person's wish to end sharing counts, and the agent's own end does not")
    func wishes() {
        #expect(SharingKeeper.Change(ProximityEvent.sharingEndRequested(by: .button)) == .unwanted)
        #expect(SharingKeeper.Change(ProximityEvent.sharingEndRequested(by: .user("0"))) == .unwanted)
        #expect(SharingKeeper.Change(ProximityEvent.sharingEndRequested(by: .agent)) == nil)
        #expect(SharingKeeper.Change(ProximityEvent.sharingStopped(.requested)) == nil)
    }

    @Test("a locked session is shared with nobody, and again once it is unlocked")
    func locks() {
        func change(_ event: SessionLockEvent) -> SharingKeeper.Change? {
            SharingKeeper.Change(AgentEvent(GatewayEvent.sessionLock(event), at: Self.date))
        }
        #expect(change(.didLock(userName: nil)) == .loggedOut && change(.didUnlock(userName: nil)) == .ready)
        #expect(change(.didRemove(userName: nil)) == nil && change(.didFailToUnlock(.attemptsUsedUp)) == nil)
    }

    private static let date = Date(timeIntervalSince1970: 0)
}

@Suite("Taps of the sharing button")
struct LoneTapsTests {
    private let timing = ButtonGestures.Timing()

    /// Whether each press, with its begin and end in milliseconds, is a tap.
    private func taps(_ presses: [(begin: Int, end: Int)], asked: (Int) -> Bool = { _ in false }) -> [Bool] {
        var taps = LoneTaps(timing)
        return presses.map { begin, end in
            taps.pressed(at: .milliseconds(begin), isAsked: asked(begin))
            taps.released(at: .milliseconds(end), held: .milliseconds(end - begin), isAsked: asked(end))
            return taps.deadline == .milliseconds(end) + timing.pair
        }
    }

    @Test("a short press of the button is a tap, and a long one is not")
    func short() {
        #expect(taps([(0, 150), (2000, 2100)]) == [true, true])
        #expect(taps([(0, 1499)]) == [true])
        #expect(taps([(0, 1500)]) == [false])
    }

    @Test("the second press of a pair is not a tap: it ends sharing, and must not begin it again")
    func pair() {
        #expect(taps([(0, 100), (300, 400)]) == [true, false])
        #expect(taps([(0, 100), (499, 600)]) == [true, false])
        #expect(taps([(0, 100), (500, 600)]) == [true, true])
    }

    @Test("a tap is known once no second press can have begun, and reported once")
    func known() {
        var taps = LoneTaps(timing)
        /// Whether a press of 100 ms is known to stand alone at these times.
        func known(pressed begin: Int, watched times: Int...) -> [Bool] {
            taps.pressed(at: .milliseconds(begin), isAsked: false)
            taps.released(at: .milliseconds(begin + 100), held: .milliseconds(100), isAsked: false)
            return times.map { taps.watched(until: .milliseconds($0)) }
        }
        #expect(known(pressed: 1000, watched: 1499, 1500, 1600) == [false, true, false])
        #expect(known(pressed: 2000) + known(pressed: 2200, watched: 9000) == [false])
    }

    @Test("a press that answers a question, or overlaps one that waits, is not a tap")
    func answers() {
        #expect(taps([(0, 100)]) { _ in true } == [false])
        #expect(taps([(0, 100)]) { $0 == 0 } == [false])
        #expect(taps([(0, 100)]) { $0 == 100 } == [false])
    }
}
