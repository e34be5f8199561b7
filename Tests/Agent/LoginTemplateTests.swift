import Foundation
import Groundwork
import Messaging
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentMessages

@Suite("Templates of the broker's login")
struct LoginTemplateTests {
    @Test(
        "templates of the broker's login fill each name once, and read nothing of what stands in its place",
        arguments: [
            ("{mag-identifier}::{client}", "{device}::c"), ("{device}", "d"), ("", ""), ("plain", "plain"),
            ("a{client}b{client}", "acbc"),
        ])
    func filling(template: String, text: String) {
        let values = ["mag-identifier": "{device}", "client": "c", "device": "d"]
        #expect(LoginTemplate.fill(template, with: values) == text)
    }

    @Test(
        "templates of the broker's login know the token in the password alone, and no other braces",
        arguments: [
            ("{device}", true, true), ("{token}", false, true), ("x{token}y", false, true), ("{nobody}", false, false),
            ("{device", false, false), ("device}", false, false), ("{{device}}", false, false), ("", true, true),
        ])
    func names(template: String, isName: Bool, isPassword: Bool) {
        #expect((LoginTemplate.fault(of: template, knowing: LoginTemplate.names) == nil) == isName)
        #expect((LoginTemplate.fault(of: template, knowing: LoginTemplate.namesOfPassword) == nil) == isPassword)
    }

    @Test("the trouble of the user's connection is not the board's, and says whose it is")
    func events() {
        let time = Date(timeIntervalSince1970: 1_800_000_000)
        let broker = BrokerAddress(host: "broker.example")
        let failed = MessengerEvent.failed(.refused(broker, .notAuthorized), retryAfter: .seconds(1))
        let (board, user) = (AgentEvent(failed, at: time), AgentEvent(failed, over: .user, at: time))
        #expect(board.severity == .trouble && board.details["as"] == nil)
        #expect(user.severity == .notable && user.details["as"] == "user" && user.name == board.name)
    }
}
