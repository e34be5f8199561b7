import Groundwork
import Testing

@Suite("Percent-encoding")
struct PercentEncodingTests {
    @Test("percent-encoding leaves only the unreserved characters of RFC 3986 section 2.3 alone")
    func encode() {
        #expect(PercentEncoding.encode("AZaz09-._~") == "AZaz09-._~")
        #expect(PercentEncoding.encode("\u{0}/%+ ß") == "%00%2F%25%2B%20%C3%9F")
    }

    @Test("percent-encoding is read as it was written, with a plus sign as a space in forms only")
    func decode() {
        #expect(PercentEncoding.decode("a%2fb+%2F".utf8) == Array("a/b+/".utf8))
        #expect(PercentEncoding.decode("a+b%2B".utf8, plusIsSpace: true) == Array("a b+".utf8))
    }

    @Test("broken percent-encoding is refused, or left as it is", arguments: ["%", "a%2", "%ZZ", "%+1", "%-1", "%é1"])
    func broken(text: String) {
        #expect(PercentEncoding.decode(text.utf8) == nil)
        #expect(PercentEncoding.decodeWherePossible("%41\(text)".utf8) == Array("A\(text)".utf8))
    }
}

@Suite("Text and durations")
struct TextTests {
    @Test("text for one line is one line, whatever was written, and bounded")
    func oneLine() {
        #expect(DisplayText.oneLine("a\nb\u{2028}c\u{85}d\u{1B}[2J\tß") == "a b c d [2J ß")
        #expect(DisplayText.oneLine("abcdef", limit: 3) == "abc")
        #expect(DisplayText.oneLine("") == "")
    }

    @Test("text is trimmed at both ends only")
    func trimming() {
        #expect("\u{a0}\r\n a b \t".trimmed == "a b")
        #expect(" \n".trimmed.isEmpty && "".trimmed.isEmpty)
        #expect("//a/b/".trimming { $0 == "/" } == "a/b")
    }

    @Test(
        "a path gives its directory",
        arguments: [("a", "."), ("/a", "/"), ("/a/b", "/a"), ("a/b/c", "a/b"), ("", ".")])
    func directory(path: String, parent: String) { #expect(path.parentDirectory == parent) }

    @Test("durations become numbers, towards zero and within what a number holds")
    func numbers() {
        #expect(
            Duration.microseconds(1999).wholeMilliseconds == 1 && Duration.microseconds(-1999).wholeMilliseconds == -1)
        #expect(
            Duration.seconds(Int64.max).wholeMilliseconds == .max
                && Duration.seconds(Int64.min).wholeMilliseconds == .min)
        #expect(Duration.milliseconds(1500).inSeconds == 1.5)
    }
}
