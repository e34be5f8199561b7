import Groundwork
import Testing

@testable import latchkey

@Suite("States of latchkey wait")
struct WaitStateTests {
    private static let away: JSON = [
        "registration": ["state": "pending"], "gateway": ["url": "https://gw.example"],
        "network": ["state": "none", "gateway": "not-reachable"], "token": ["lifeLeft": -1],
        "broker": ["state": "waiting"],
        "user": ["loggedIn": false], "outbox": ["depth": 3], "vault": ["error": ["message": "the disk is full"]],
    ]
    private static let there: JSON = [
        "registration": ["state": "registered"], "gateway": ["url": "https://gw.example"],
        "network": ["state": "connected", "gateway": "reachable"], "token": ["lifeLeft": 60],
        "broker": ["state": "connected"],
        "user": ["loggedIn": true], "outbox": ["depth": 0],
    ]

    @Test(
        "a state that latchkey wait waits for is met by the status that shows it alone", arguments: WaitState.allCases)
    func met(state: WaitState) {
        #expect(state.isMet(by: Self.there, account: Self.there))
        #expect(state.isMet(by: Self.away, account: Self.away) == (state == .enrolled))
        #expect(state.isMet(by: [:], account: [:]) == (state == .running))
    }

    @Test("a state that latchkey wait waits for is the account's, where an account has it")
    func account() {
        #expect(WaitState.registered.isMet(by: Self.away, account: Self.there))
        #expect(!WaitState.userLoggedIn.isMet(by: Self.there, account: Self.away))
        #expect(WaitState.broker.isMet(by: Self.there, account: Self.away))
        #expect(!WaitState.connected.isMet(by: Self.there, account: Self.away))
        #expect(WaitState.enrolled.isMet(by: [:], account: ["server": ["issuer": "https://id.example"]]))
    }

    @Test("a state that latchkey wait waits for is named with what the status shows in its place")
    func shown() {
        #expect(WaitState.broker.shown(by: Self.away, account: Self.away) == "broker (waiting)")
        #expect(WaitState.outboxEmpty.shown(by: Self.away, account: Self.away) == "outbox-empty (3 messages)")
        #expect(WaitState.token.shown(by: Self.away, account: Self.away) == "token")
    }

    @Test("a state that latchkey wait waits for is in the help by its name", arguments: WaitState.allCases)
    func help(state: WaitState) { #expect(WaitState.help.contains(state.rawValue)) }
}
