import Cryptography
import Groundwork
import OAuth
import Testing

@Suite("Redirect answer")
struct RedirectAnswerTests {
    @Test(
        "a redirect answer gives code and state, whatever else is in it",
        arguments: [
            ("https://app.example/done?code=c-1&state=s-1", "c-1", "s-1"), ("?state=s-1&code=c-1", "c-1", "s-1"),
            ("latchkey://done?code=c%2D1&state=s+1#fragment?code=other", "c-1", "s 1"),
            ("https://app.example/?x&code=a=b&state=&scope=openid%20msso", "a=b", ""),
            ("https://app.example/?code=T%C3%BCr&state=s", "Tür", "s"),
        ])
    func read(answer: String, code: String, state: String) throws {
        let read = try RedirectAnswer.code(in: answer)
        #expect(read.value == SecretBytes(utf8: code) && read.state == SecretBytes(utf8: state))
    }

    @Test(
        "a redirect answer is refused if a part is missing",
        arguments: [
            ("", RedirectFault.withoutQuery), ("https://app.example/done", .withoutQuery), ("#?", .withoutCode),
            ("?code=c", .withoutCode), ("?state=s", .withoutCode), ("?code=&state=s", .withoutCode),
            ("?code=a&code=b&state=s", .unreadable), ("?code=a%&state=s", .unreadable),
            ("?code=a%ZZ&state=s", .unreadable),
            ("?code=a%FF&state=s", .unreadable),
            ("?code=" + String(repeating: "x", count: RedirectAnswer.limit), .tooLong(limit: 8192)),
        ])
    func refused(answer: String, fault: RedirectFault) {
        #expect(throws: fault) { try RedirectAnswer.code(in: answer) }
    }

    @Test("a redirect answer must match the redirect address, however a browser writes it")
    func address() throws {
        for (own, answer) in [
            ("https://app.example/done", "https://App.example/done?code=c&state=s"),
            ("app://done", "app://done/?code=c&state=s#top"),
            ("com.example:/done", "com.example:/done?code=c&state=s"), ("https://app.example/done", "?code=c&state=s"),
        ] {
            #expect(try RedirectAnswer.code(in: answer, redirectURI: own).value == SecretBytes(utf8: "c"))
        }
        for answer in [
            "https://app.example.evil/done?code=c&state=s", "https://app.example@evil.example/done?code=c&state=s",
        ] {
            #expect(throws: RedirectFault.elsewhere) {
                try RedirectAnswer.code(in: answer, redirectURI: "https://app.example/done")
            }
        }
    }

    @Test("a redirect answer passes on the server's error, safe to display (RFC 6749 section 4.1.2.1)")
    func serverError() {
        #expect(throws: RedirectFault.refused(error: "access_denied", text: "The user denied")) {
            try RedirectAnswer.code(
                in: "https://app.example/?error=access_denied&error_description=The+user%0A%1Bdenied&state=s")
        }
        #expect(throws: RedirectFault.refused(error: "server_error", text: nil)) {
            try RedirectAnswer.code(in: "?error=server_error&code=c&state=s")
        }
    }

    @Test(
        "a redirect answer's state is checked before anything in it is believed (RFC 8252 section 8.9)",
        arguments: [
            "?error=access_denied", "?error=access_denied&state=other", "?error=access_denied&state=", "?code=c", "?x",
            "?code=c&state=other", "?error=a&error=b&state=s", "?code=%ZZ&state=s", "?state=s&state=s",
            "?state=s&code=" + String(repeating: "x", count: RedirectAnswer.limit),
        ])
    func stateFirst(query: String) throws {
        let own = SecretBytes(utf8: "s")
        let place = "http://127.0.0.1:4711/done"
        #expect(throws: RedirectFault.ofAnotherLogin) {
            try RedirectAnswer.code(in: place + query, redirectURI: place) { $0 == own }
        }
        #expect(throws: RedirectFault.refused(error: "access_denied", text: nil)) {
            try RedirectAnswer.code(in: place + "?error=access_denied&state=s", redirectURI: place) { $0 == own }
        }
    }

    @Test(
        "a redirect answer in a fragment is not believed in anything before its state is checked",
        arguments: [
            "error=access_denied", "error=access_denied&state=other", "access_token=t&token_type=bearer",
            "access_token=t&token_type=bearer&state=other", "error=a&error=b&state=s", "access_token=%ZZ&state=s",
            "state=s&access_token=" + String(repeating: "x", count: 65_536),
        ])
    func fragmentStateFirst(fragment: String) throws {
        let own = SecretBytes(utf8: "s")
        let place = "https://app.example/done"
        #expect(throws: RedirectFault.ofAnotherLogin) {
            try RedirectAnswer.fragment(in: "\(place)#\(fragment)", redirectURI: place) { $0 == own }
        }
        #expect(throws: RedirectFault.refused(error: "access_denied", text: nil)) {
            try RedirectAnswer.fragment(in: place + "#error=access_denied&state=s", redirectURI: place) { $0 == own }
        }
        let read = try RedirectAnswer.fragment(in: place + "#access_token=t&state=s", redirectURI: place) { $0 == own }
        #expect(read.fields["access_token"] == "t" && read.state == own)
    }
}
