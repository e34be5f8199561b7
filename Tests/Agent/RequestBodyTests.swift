import Groundwork
import Testing

@testable import Agent
@testable import AgentCore

@Suite("Bodies of requests")
struct RequestBodyTests {
    private func body(_ text: String) throws -> RequestBody {
        RequestBody(json: try JSON(parsing: Array(text.utf8)))
    }

    @Test("a body's member is read as the type that it has to be")
    func members() throws {
        let body = try body(#"{"topic": "a/b", "retain": true, "qos": 2, "user": null}"#)
        #expect(try body.string("topic") == "a/b")
        #expect(try body.bool("retain", default: false))
        #expect(try body.integer("qos", in: 0...2, default: 1) == 2)
        #expect(try body.optionalString("user") == nil)
        #expect(try body.optionalString("device") == nil)
        #expect(try body.bool("raw", default: true))
        #expect(try body.integer("n", in: 0...9, default: 7) == 7)
    }

    @Test("a body's missing member is named")
    func missing() {
        #expect(throws: AgentError.badRequest(member: "topic", fault: "is missing")) { try body("{}").string("topic") }
        #expect(throws: AgentError.badRequest(member: "topic", fault: "is missing")) {
            try body(#"{"topic": null}"#).string("topic")
        }
    }

    @Test("a body without a clear decision is refused, and not taken for a refusal")
    func decision() throws {
        #expect(try body(#"{"grant": true}"#).bool("grant"))
        #expect(try !body(#"{"grant": false}"#).bool("grant"))
        for text in ["{}", #"{"grant": null}"#] {
            #expect(throws: AgentError.badRequest(member: "grant", fault: "is missing")) {
                try body(text).bool("grant")
            }
        }
        #expect(throws: AgentError.badRequest(member: "grant", fault: "is not true or false")) {
            try body(#"{"grant": 1}"#).bool("grant")
        }
    }

    @Test("a body's member of the wrong type is named")
    func wrongKind() {
        #expect(throws: AgentError.badRequest(member: "topic", fault: "is not a string")) {
            try body(#"{"topic": 1}"#).string("topic")
        }
        #expect(throws: AgentError.badRequest(member: "raw", fault: "is not true or false")) {
            try body(#"{"raw": "yes"}"#).bool("raw", default: false)
        }
        for text in [#"{"qos": 3}"#, #"{"qos": -1}"#, #"{"qos": 1.5}"#, #"{"qos": "1"}"#] {
            #expect(throws: AgentError.badRequest(member: "qos", fault: "is not a whole number from 0 to 2")) {
                try body(text).integer("qos", in: 0...2, default: 1)
            }
        }
    }

    @Test("a body's payload is text, or base64 where the encoding says so")
    func payload() throws {
        #expect(try body(#"{"payload": "aGk="}"#).payload("payload") == Array("aGk=".utf8))
        #expect(try body(#"{"payload": "aGk=", "encoding": "text"}"#).payload("payload") == Array("aGk=".utf8))
        #expect(try body(#"{"payload": "aGk=", "encoding": "base64"}"#).payload("payload") == Array("hi".utf8))
        #expect(throws: AgentError.badRequest(member: "payload", fault: "is not base64")) {
            try body(#"{"payload": "!", "encoding": "base64"}"#).payload("payload")
        }
        #expect(throws: AgentError.badRequest(member: "encoding", fault: "is neither text nor base64")) {
            try body(#"{"payload": "x", "encoding": "hex"}"#).payload("payload")
        }
    }
}
