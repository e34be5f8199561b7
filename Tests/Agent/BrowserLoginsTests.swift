import Cryptography
import Groundwork
import OAuth
import TestSupport
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentUsers
@testable import Gateway

@Suite("Redirect address of a browser's login")
struct BrowserLoginsTests {
    @Test(
        "the address a browser was led to is refused and not shown where it says something else",
        arguments: [
            ("", "no query"), ("https://app.example/done", "no query"),
            ("https://app.example/#?code=s3cret", "no code"),
            ("https://app.example/?code=s3cret", "no code, or no state"),
            ("https://app.example/?state=s3cret", "no code, or no state"),
            ("https://app.example/?code=&state=s3cret", "no code"),
            ("https://app.example/?code=s3cret&code=b&state=c", "cannot be read"),
            ("https://app.example/?code=s3cret%&state=c", "cannot be read"),
            ("https://app.example/?code=s3cret%2&state=c", "cannot be read"),
            ("https://app.example/?code=s3cret%ZZ&state=c", "cannot be read"),
            ("https://app.example/?code=s3cret%FF&state=c", "cannot be read"),
            ("https://app.example/?code=s3cret&state=" + String(repeating: "x", count: 8192), "longer than 8192 bytes"),
        ])
    func refused(answer: String, says: String) {
        let error = #expect(throws: AgentError.self) { try BrowserLogins.code(in: answer) }
        #expect(error?.message.contains(says) == true)
        #expect(error?.message.contains("s3cret") == false)
        #expect(error?.remedy?.contains("latchkey login --browser") == true)
    }

    @Test(
        "the address a browser was led to is recognized however the browser writes it",
        arguments: [
            ("https://app.example/done", "https://app.example/done?code=c&state=s"),
            ("https://App.example", "https://app.example/?code=c&state=s"),
            ("https://app.example/done", "?code=c&state=s"),
            ("https://app.example/done?by=board", "https://app.example/done?by=board&code=c&state=s"),
            ("latchkey://done", "latchkey://done/?code=c&state=s#top"),
            ("com.example:/done", "com.example:/done?code=c&state=s"),
        ])
    func redirected(to redirectURI: String, answer: String) throws {
        #expect(try BrowserLogins.code(in: answer, redirectURI: redirectURI).value == SecretBytes(utf8: "c"))
    }

    @Test(
        "an address that the gateway does not lead browsers to is refused",
        arguments: [
            "https://app.example/Done?code=s3cret&state=s", "https://app.example.evil/done?code=s3cret&state=s",
            "done?code=s3cret&state=s",
            "http://app.example/done?code=s3cret&state=s",
            "https://evil.example/https://app.example/done?code=s3cret&state=s",
            "https://app.example@evil.example/done?code=s3cret&state=s", " ?code=s3cret&state=s",
            "https://app.example/?code=s3cret&state=s",
        ])
    func redirectedElsewhere(answer: String) {
        let error = #expect(throws: AgentError.self) {
            try BrowserLogins.code(in: answer, redirectURI: "https://app.example/done")
        }
        #expect(error?.message.contains("another address") == true)
        #expect(error?.message.contains("s3cret") == false)
    }

    @Test("the address a browser was led to passes on what the gateway told it, fit to be shown")
    func gatewayError() {
        let error = #expect(throws: AgentError.self) {
            try BrowserLogins.code(
                in: "https://app.example/?error=access_denied&error_description=The+user%0A%1Bdenied&state=s")
        }
        #expect(error?.message.contains("the gateway said The user denied") == true)
    }

    @Test(
        "an address without this login's state answers another login, whatever it says (RFC 8252 section 8.9)",
        arguments: ["?error=access_denied", "?error=access_denied&state=other", "?code=c&state=other", "?code=c"])
    func anotherLogin(query: String) {
        let own = SecretBytes(utf8: "s")
        #expect(throws: GatewayError.authorizationStateMismatch) {
            try BrowserLogins.code(in: "http://127.0.0.1:4711/done" + query) { $0 == own }
        }
        #expect(throws: AgentError.browserAnswerInvalid(reason: "the gateway said access_denied")) {
            try BrowserLogins.code(in: "http://127.0.0.1:4711/done?error=access_denied&state=s") { $0 == own }
        }
    }
}
