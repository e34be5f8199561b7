import Cryptography
import Groundwork
import Testing

@testable import HTTPClient

@Suite("Header fields")
struct HTTPHeadersTests {
    @Test("header names are compared without case; order and repeats are kept")
    func order() {
        var headers: HTTPHeaders = ["X-One": "1", "x-two": "2"]
        headers.add("X-ONE", "3")
        #expect(headers.first("x-one") == "1")
        #expect(headers.all("X-one") == ["1", "3"])
        #expect(headers.pairs.map(\.name) == ["X-One", "x-two", "X-ONE"])
    }

    @Test("setting a header replaces all of that name, in the place of the first")
    func set() {
        var headers: HTTPHeaders = ["A": "1", "B": "2", "a": "3"]
        headers.set("a", "4")
        #expect(headers == ["A": "4", "B": "2"])
        headers.remove("b")
        #expect(headers == ["A": "4"])
    }
}

@Suite("Form bodies")
struct FormBodyTests {
    @Test("form bodies percent-encode every byte outside the unreserved set (RFC 3986 section 2.3)")
    func encoding() {
        let form = FormBody([("grant_type", "urn:a b"), ("scope", "x+y&z=ü"), ("scope", "A-z_0.9~")])
        #expect(form.text == "grant_type=urn%3Aa%20b&scope=x%2By%26z%3D%C3%BC&scope=A-z_0.9~")
    }

    @Test("secrets in a form follow the other fields, are encoded like them, and leave no copy")
    func secrets() {
        let body = FormBody([("grant_type", "password")]).bytes(
            with: [("password", SecretBytes(utf8: "a &=%+ß~")), ("x", SecretBytes(utf8: ""))])
        #expect(String(decoding: body, as: UTF8.self) == "grant_type=password&password=a%20%26%3D%25%2B%C3%9F~&x=")
        #expect(String(decoding: FormBody().bytes(with: [("a", SecretBytes(utf8: "b"))]), as: UTF8.self) == "a=b")
    }
}

@Suite("Request URLs")
struct RequestTargetTests {
    @Test("request URLs show neither query nor fragment")
    func location() throws {
        let target = try RequestDestination("https://gw.test/a/b?code=secret#part")
        #expect(target.location == "https://gw.test:443/a/b")
        #expect(target.url.contains("code=secret"))
        #expect((target.host, target.port, target.isProtected) == ("gw.test", 443, true))
        #expect(try RequestDestination("https://[::1]:8443/").host == "::1")
    }

    @Test(
        "request URLs with user info, control characters or another scheme are refused and not shown",
        arguments: [
            "https://user:word@gw.test/", "https://gw.test/\r\nX: y", "https://gw.test/a b", "https://gw.test/\u{0}",
            "https://gw.test/ü", "file:///etc/passwd", "ftp://gw.test/", "/relative", "gw.test/secret", "https://", "",
        ])
    func refused(url: String) {
        #expect {
            _ = try RequestDestination(url)
        } throws: { error in
            guard case HTTPError.malformedRequest(let reason) = error else { return false }
            return url.isEmpty || !reason.contains(url)
        }
    }

    @Test(
        "request URLs name this machine only by loopback addresses and localhost",
        arguments: [
            ("http://localhost/", true), ("http://a.localhost/", true), ("http://127.0.0.1/", true),
            ("http://127.9.8.7/", true),
            ("http://[::1]/", true), ("http://localhost.test/", false), ("http://127.0.0.1.test/", false),
            ("http://128.0.0.1/", false), ("http://[::2]/", false),
        ])
    func loopback(url: String, isLoopback: Bool) throws {
        #expect(try RequestDestination(url).isLoopback == isLoopback)
    }
}

@Suite("Requests and responses as text")
struct DescriptionTests {
    @Test("requests and responses as text show no query, header or body")
    func description() {
        let request = HTTPRequest("GET", "https://gw.test/a?code=1", headers: ["Authorization": "Bearer x"], body: [1])
        #expect("\(request)" == "GET https://gw.test:443/a")
        #expect(String(reflecting: request) == "GET https://gw.test:443/a")
        #expect("\(HTTPResponse(status: 200, headers: ["Set-Cookie": "x"], body: [1, 2]))" == "200, 2 bytes")
    }
}

@Suite("Response heads")
struct ResponseHeadTests {
    private func outcome(_ lines: [String], _ head: inout ResponseHead) -> ResponseHead.Outcome {
        var last = ResponseHead.Outcome.incomplete
        for line in lines {
            last = head.receive(Array((line + "\r\n").utf8))
            guard last == .incomplete else { break }
        }
        return last
    }

    @Test("reading a response head skips interim answers, joins folded lines and ignores trailers")
    func lines() {
        var head = ResponseHead()
        #expect(
            outcome(["HTTP/1.1 103 Early", "Link: x", "", "HTTP/1.1 200 OK", "A:  1 ", "B: 2", "\t3", ""], &head)
                == .complete)
        #expect(outcome(["Trailer: late"], &head) == .incomplete)
        #expect(head.status == 200)
        #expect(head.headers == ["A": "1", "B": "2 3"])
    }

    @Test(
        "a text that is not a response head is refused",
        arguments: ["HTTP/1.1", "HTTP/1.1 2000 OK", "HTTP/1.1 abc OK", "ICY 200 OK", ""])
    func malformed(line: String) {
        var head = ResponseHead()
        #expect(outcome([line], &head) == .malformed)
    }

    @Test("a header field without a name or a colon is refused", arguments: [": x", "no colon"])
    func malformedField(line: String) {
        var head = ResponseHead()
        #expect(outcome(["HTTP/2 200", line], &head) == .malformed)
    }

    @Test("a response head beyond the limits of fields or bytes is refused, counting interim answers")
    func bounds() {
        var head = ResponseHead()
        let fields = (0..<ResponseHead.fieldLimit).map { "X-\($0): y" }
        #expect(outcome(["HTTP/1.1 200 OK"] + fields, &head) == .incomplete)
        #expect(outcome(["One: more"], &head) == .tooLarge)
        head = ResponseHead()
        let interim = ["HTTP/1.1 103 Early", "Link: " + String(repeating: "x", count: 1000), ""]
        #expect(outcome((0..<70).flatMap { _ in interim }, &head) == .tooLarge)
    }
}

@Suite("TLS alerts")
struct TLSAlertTests {
    @Test("TLS alerts are messages of two bytes, and only some concern a certificate")
    func messages() {
        #expect(TLSAlert(message: [2, 48]) == TLSAlert(number: 48))
        #expect(TLSAlert(message: [2, 116])?.refusesCertificate == true)
        #expect(TLSAlert(message: [1, 0])?.refusesCertificate == false)
        for other in [[], [1], [3, 48], [2, 48, 0], [21, 3, 3, 0, 2]] as [[UInt8]] {
            #expect(TLSAlert(message: other) == nil)
        }
    }
}

@Suite("Basic credentials")
struct BasicCredentialsTests {
    @Test("Basic credentials are written as RFC 7617 section 2 and 2.1 show")
    func vectors() {
        #expect(
            BasicCredentials.header(name: "Aladdin", secret: SecretBytes(utf8: "open sesame"))
                == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(
            BasicCredentials.header(name: "test", secret: SecretBytes(utf8: "123\u{a3}")) == "Basic dGVzdDoxMjPCow==")
    }
}

@Suite("Answers in JSON")
struct JSONAnswerTests {
    @Test("answers in JSON are objects of bounded length", arguments: ["", "[]", "7", "null", "\"a\"", "<html>", "{"])
    func refused(text: String) { #expect(throws: AnswerFault.self) { try JSONAnswer(Array(text.utf8)) } }

    @Test("answers in JSON beyond the limit are refused")
    func long() throws {
        let body = Array(#"{"a":"\#(String(repeating: "x", count: 100))"}"#.utf8)
        #expect(try JSONAnswer(body, limit: body.count)["a"]?.string?.count == 100)
        #expect(throws: AnswerFault.self) { try JSONAnswer(body, limit: body.count - 1) }
    }

    @Test("answers in JSON have texts fit for a header, and a fault names the member but not its value")
    func texts() throws {
        let answer = try JSONAnswer(Array(#"{"a":"x","b":"","c":7,"d":"s3cret\r\nX: y"}"#.utf8))
        #expect(try answer.requiredPlainText("a") == "x")
        for name in ["b", "c", "e"] {
            #expect(try answer.plainText(name) == nil)
            #expect(throws: AnswerFault("its \(name) is missing or empty")) { try answer.requiredPlainText(name) }
        }
        #expect(throws: AnswerFault("its d is not printable")) { try answer.plainText("d") }
    }
}
