import Board
import Foundation
import Gateway
import Groundwork
import HTTPClient
import Messaging
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentGateway
@testable import AgentNearby

@Suite("Events of the agent")
struct EventTests {
    private let time = Date(timeIntervalSince1970: 1_800_000_000)
    private let noAnswer = GatewayError.noAnswer(.obtainToken, .cannotResolve(host: "gw.example"))

    @Test("an event for programs has its name and time beside its details")
    func json() {
        let event = AgentEvent(ButtonEvent.released(at: .seconds(9), held: .microseconds(4999)), at: time)
        #expect(event.json == ["event": "button.released", "time": "2027-01-15T08:00:00Z", "heldMilliseconds": 4])
    }

    @Test("a failure event has all that is said of its error")
    func failure() {
        let event = AgentEvent(SharingEvent.failed(AgentError.notEnrolled, retryAfter: nil), at: time)
        #expect(event.severity == .trouble)
        #expect(
            event.details == [
                "code": "agent.not-enrolled", "kind": "unconfigured",
                "message": "this board is not enrolled at a gateway",
                "remedy": "enroll it: latchkey enroll - < url.txt", "gateway": ["domain": "local", "number": 100_004],
            ])
    }

    @Test("an error that does not explain itself tells its kind and nothing of its content")
    func unexplained() {
        struct Leaky: Error { let token = "s3cret" }
        let event = AgentEvent(SharingEvent.failed(Leaky(), retryAfter: nil), at: time)
        #expect(event.details["message"] == "an unexpected error: Leaky")
        #expect(!event.json.text.contains("s3cret"))
    }

    @Test(
        "the reason for a missing broker is trouble only if nobody reported it and somebody has to act",
        arguments: [
            (GatewayError.notRegistered, EventReport.Severity.notable),
            (.awaitingActivation(magIdentifier: "m"), .notable),
            (.registrationWithdrawn(code: 1107), .trouble), (.deviceRecordInvalid(reason: "x"), .trouble),
            (.noAnswer(.registerDevice, .cannotResolve(host: "gw.example")), .routine),
            (.registrationAnswerInvalid(reason: "x"), .routine),
        ])
    func notReady(error: GatewayError, severity: EventReport.Severity) {
        let event = AgentEvent(AccountEvent.notReady(error, retryAfter: .seconds(7)), at: time)
        #expect(event.name == "gateway.not-ready")
        #expect(event.severity == severity)
        #expect(event.details["code"]?.string == error.code)
        // What waits for a person is not tried again by itself.
        #expect((event.details["retrySeconds"] == nil) == error.needsPerson)
    }

    @Test("another error than the gateway's keeps a board from its broker as trouble, and is retried")
    func notReadyForOther() {
        let error = MessagingError.outboxClosed(path: "/x")
        let event = AgentEvent(AccountEvent.notReady(error, retryAfter: .seconds(7)), at: time)
        #expect(event.severity == .trouble)
        #expect(event.details["retrySeconds"] == 7)
    }

    @Test("only the default account's user shares a session")
    func ofAccounts() throws {
        let plant = try #require(AccountName("plant2"))
        let loggedOut = GatewayEvent.userDidLogout(userName: "a")
        #expect(SharingKeeper.Change(AgentEvent(loggedOut, at: time)) == .loggedOut)
        #expect(SharingKeeper.Change(AgentEvent(loggedOut, of: plant, at: time)) == nil)
    }

    @Test("a link waits for a person only for what a person has to do")
    func needsPerson() {
        #expect(GatewayError.notRegistered.needsPerson)
        #expect(GatewayError.registrationWithdrawn(code: 1107).needsPerson)
        #expect(GatewayError.deviceRecordInvalid(reason: "x").needsPerson)
        #expect(GatewayError.noGrantApplies.needsPerson)
        #expect(!GatewayError.awaitingActivation(magIdentifier: "m").needsPerson)
        #expect(!noAnswer.needsPerson)
    }

    @Test("every error of the agent says what to do, under a code of its own")
    func errors() {
        let errors: [AgentError] = [
            .notEnrolled, .stateDirectory(path: "/x", reason: "y"),
            .passphraseUnreadable(path: "/x", reason: "y"), .badRequest(member: "m", fault: "f"), .subscriptionEnded,
            .noSuchPart("p"),
        ]
        #expect(Set(errors.map(\.code)).count == errors.count)
        for error in errors {
            #expect(error.remedy?.isEmpty == false)
            #expect(!error.message.isEmpty)
        }
    }
}
