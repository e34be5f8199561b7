import Testing

@testable import Groundwork

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

@Suite("Text as people's tools write it")
struct ReceivedTextTests {
    @Test(
        "text is UTF-8 or UTF-16 with a byte order mark, and loses the mark",
        arguments: [
            ([0xEF, 0xBB, 0xBF, 0x61, 0xC3, 0x9F], "aß"), ([0x61, 0xC3, 0x9F], "aß"), ([], ""),
            ([0xFF, 0xFE, 0x61, 0, 0xDF, 0, 0x3D, 0xD8, 0x11, 0xDD], "aß\u{1F511}"),
            ([0xFE, 0xFF, 0, 0x61, 0, 0xDF, 0xD8, 0x3D, 0xDD, 0x11], "aß\u{1F511}"), ([0xFF, 0xFE], ""),
        ] as [([UInt8], String)])
    func decoded(bytes: [UInt8], text: String) throws {
        #expect(try ReceivedText.decode(bytes) == text)
        #expect(ReceivedText.decodeWherePossible(bytes) == text)
    }

    @Test(
        "bytes that are not text are refused by the line",
        arguments: [
            (Array("a\nb\n".utf8) + [0xE4], "line 3 is not UTF-8: save it as UTF-8"),
            ([0x61, 0x0A, 0x62, 0, 0x63, 0], "line 2 contains the byte 0: save it as UTF-8, not as UTF-16"),
            ([0xFF, 0xFE, 0x61], "it is UTF-16 and ends within a character"),
            ([0xFF, 0xFE, 0x0A, 0, 0, 0xDC], "line 2 is not UTF-16, unlike the beginning of the text"),
        ] as [([UInt8], String)])
    func refused(bytes: [UInt8], reason: String) {
        #expect(throws: ReceivedText.Fault(reason: reason)) { try ReceivedText.decode(bytes) }
    }

    @Test("text of which only parts count may hold anything between them")
    func wherePossible() {
        #expect(ReceivedText.decodeWherePossible([0x61, 0xE4, 0x62]) == "a\u{FFFD}b")
    }
}

@Suite("A URL as people write it")
struct WrittenURLTests {
    private static let url = "https://gw.example/?a=b"

    @Test(
        "a URL is taken without what stands around it",
        arguments: [
            url, " \t\(url)\r\n", "\u{FEFF}\(url)", "\"\(url)\"", "'\(url)'", " \"'\(url)' \"\n", "<\(url)>",
            "\u{201E}\(url)\u{201C}", "\u{AB}\u{A0}\(url)\u{A0}\u{BB}", "\u{200B}\(url)\u{200B}",
            "[InternetShortcut]\r\nURL=\(url)\r\n", "\u{FEFF}[INTERNETSHORTCUT]\nurl = \"\(url)\"\n",
            "[DEFAULT]\nBASEURL=https://other.example\n[InternetShortcut]\nIconIndex=0\nURL=\(url)",
            "[Desktop Entry]\nName=URL=x\nURL=\(url)\n[Desktop Action x]\nURL=https://other.example\n",
        ])
    func taken(text: String) throws {
        #expect(try WrittenURL(text).text == Self.url)
    }

    @Test(
        "what belongs to a URL stays: half a pair of quotes, its own brackets, an equals sign",
        arguments: ["\"\(url)", "https://[::1]:8443/", "https://gw.example/?a='b'", "'", "\"", "plain"])
    func kept(text: String) throws {
        #expect(try WrittenURL(text).text == text)
    }

    @Test(
        "a shortcut without a URL is refused",
        arguments: [
            "[InternetShortcut]", "[InternetShortcut]\nURL=\n", "[InternetShortcut]\n[Other]\nURL=\(url)\n",
            "[Other]\nURL=\(url)\n",
        ])
    func refused(text: String) {
        #expect(WrittenURL.isShortcut(text))
        #expect(throws: WrittenURL.Fault(reason: "it is an internet shortcut without a line URL=")) {
            try WrittenURL(text)
        }
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
