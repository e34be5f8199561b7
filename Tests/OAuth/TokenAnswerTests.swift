import Cryptography
import Foundation
import HTTPClient
import OAuth
import Testing

@Suite("Token answer")
struct TokenAnswerTests {
    private func answer(_ text: String) throws -> TokenAnswer { try TokenAnswer(Array(text.utf8)) }

    @Test("a token answer has token, lifetime, scope and its other members")
    func complete() throws {
        let answer = try answer(
            #"{"access_token":"at-1","token_type":"Bearer","expires_in":3600,"refresh_token":"rt-1","scope":"a b","id_token":"x.y.z"}"#
        )
        #expect(answer.accessToken == SecretBytes(utf8: "at-1"))
        #expect(answer.lifetime == 3600)
        #expect(answer.scope == "a b")
        #expect(answer.refreshToken == SecretBytes(utf8: "rt-1"))
        #expect(answer.idToken == SecretBytes(utf8: "x.y.z"))
        #expect(answer.idTokenType == HeldIDToken.jwtBearer)
    }

    @Test(
        "a token answer has its lifetime as a number or a string, and 0 without one (MAG quirk Q27)",
        arguments: [
            (#""3600""#, 3600), ("3600.0", 3600), ("0", 0), ("-5", 0), ("null", 0), (#""x""#, 0),
            ("1e300", TokenAnswer.lifetimeLimit),
        ])
    func lifetime(text: String, seconds: TimeInterval) throws {
        #expect(try answer(#"{"access_token":"a","token_type":"bearer","expires_in":\#(text)}"#).lifetime == seconds)
    }

    @Test(
        "a token answer has its scope with blanks, whether the server writes blanks, commas or a list",
        arguments: [(#""a b""#, "a b"), (#""a,b""#, "a b"), (#"["a","b"]"#, "a b"), (#""a,b c""#, "a,b c"), ("7", nil)])
    func scope(text: String, scope: String?) throws {
        #expect(try answer(#"{"access_token":"a","token_type":"bearer","scope":\#(text)}"#).scope == scope)
    }

    @Test(
        "a token answer is refused when it is not bearer, empty, or could break a header (MAG checklist 21)",
        arguments: [
            #"{"access_token":"a","token_type":"mac"}"#, #"{"access_token":"a"}"#,
            #"{"access_token":"","token_type":"bearer"}"#,
            #"{"token_type":"bearer"}"#, #"{"access_token":"a\r\nX: y","token_type":"bearer"}"#, "<html>", "",
            #"{"access_token":5,"token_type":"bearer"}"#,
            #"{"access_token":"a","token_type":"bearer","refresh_token":"a b"}"#,
        ])
    func refused(text: String) { #expect(throws: AnswerFault.self) { try answer(text) } }
}

@Suite("Access token")
struct HeldTokenTests {
    private let noon = Date(timeIntervalSince1970: 1_800_000_000)

    @Test("an access token of this run expires by a clock that is never set")
    func monotonic() {
        let token = HeldToken(value: SecretBytes(utf8: "t"), lifetime: 60, scope: "", at: noon, uptime: .seconds(1000))
        #expect(token.isValid(at: .seconds(1060)))
        #expect(!token.isValid(at: .seconds(1061)))
        // A wall clock that jumps only changes the date at which the end is shown.
        #expect(token.token(at: noon + 86_400, uptime: .seconds(1010)).expiresAt == noon + 86_450)
    }

    @Test(
        "an access token of an earlier run expires by its age; one from the future has expired",
        arguments: [
            (30.0, true), (60, true), (61, false), (-1, false), (1e9, false),
        ])
    func restart(age: TimeInterval, isValid: Bool) {
        let token = HeldToken(
            value: SecretBytes(utf8: "t"), lifetime: 60, scope: "", receivedAt: noon - age, at: noon,
            uptime: .seconds(5))
        #expect(token.isValid(at: .seconds(5)) == isValid)
    }
}

@Suite("Scope of a token")
struct ScopeTests {
    @Test("a scope is a list of words separated by any number of spaces")
    func words() {
        #expect(Scope.list("  b a  b ") == ["b", "a", "b"])
        #expect(Scope.words(nil).isEmpty && Scope.words("a b a") == ["a", "b"])
    }

    @Test("a scope suffices if it has every needed word, except those that need not be granted")
    func sufficient() {
        #expect(Scope.suffices("a b", for: "a"))
        #expect(Scope.suffices("", for: nil))
        #expect(!Scope.suffices("openid a", for: "a b"))
        #expect(!Scope.suffices("a b", for: "openid a"))
        #expect(Scope.suffices("a b", for: "openid a", without: ["openid"]))
    }
}
