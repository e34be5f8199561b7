import Groundwork
import TestSupport
import Testing

@testable import Proximity

@Suite("A proximity request")
struct RequestTests {
    @Test("a proximity request is written in pieces of at most 20 bytes, then EOM by itself (MAG checklist 37)")
    func written() throws {
        let request = try #require(ProximityRequest(providerURL: ownURL, deviceName: "Pixel 7"))
        let pieces = request.pieces()
        #expect(pieces.dropLast().allSatisfy { (1...20).contains($0.count) })
        #expect(pieces.last == Array("EOM".utf8))
        let text = String(decoding: pieces.dropLast().joined(), as: UTF8.self)
        #expect(text == #"{"provider_url":"\#(ownURL)","device_name":"Pixel 7"}"#)
    }

    @Test(
        "a proximity request is pure ASCII, as some readers turn each piece into text by itself (MAG 8.2)",
        arguments: ["Küche", "日本 🏠", "a\"b\\c"])
    func ascii(name: String) throws {
        let request = try #require(ProximityRequest(providerURL: ownURL, deviceName: name))
        #expect(request.document.allSatisfy { (0x20..<0x7F).contains($0) })
        #expect(try ProximityRequest(parsing: request.document) == request)
    }

    @Test("a proximity request has no piece that is EOM before the last, in whatever size it is cut (MAG 8.2)")
    func noEarlyEnd() throws {
        let url = "https://gw.lab.test:8443/EOM/EOMEOM/xEOM/xxEOM?EOM=EEOMEOM"
        let request = try #require(ProximityRequest(providerURL: url, deviceName: "EOM EOM"))
        for size in 1...80 {
            let pieces = request.pieces(of: size)
            #expect(!pieces.dropLast().contains(Array("EOM".utf8)))
            #expect(try ProximityRequest(parsing: Array(pieces.dropLast().joined())) == request)
        }
    }

    @Test("a proximity request is read as reference clients write it, over lines and without name (MAG 8.2)")
    func foreignForms() throws {
        let pretty = "{\n  \"device_name\" : \"iPhone\",\n  \"provider_url\" : \"https:\\/\\/gw.lab.test\\/a\"\n}"
        #expect(
            try ProximityRequest(parsing: Array(pretty.utf8))
                == ProximityRequest(providerURL: "https://gw.lab.test/a", deviceName: "iPhone"))
        let bare = "{\"provider_url\":\"https://gw.lab.test/a\"}"
        #expect(try ProximityRequest(parsing: Array(bare.utf8)).deviceName == nil)
    }

    @Test(
        "a proximity request is refused with its fault",
        arguments: [
            ("{\"provider_url\":\"https://a\",\"device_name\":\"\u{FFFD}", RequestRefusal.notJSON),
            ("", .notJSON), ("[]", .notJSON), ("\"https://a\"", .notJSON), ("{}", .withoutURL),
            ("{\"provider_url\":\"\"}", .withoutURL),
            ("{\"provider_url\":7}", .withoutURL), ("{\"provider_url\":\"https://a b\"}", .withoutURL),
            ("{\"provider_url\":\"https://a\\u0000\"}", .withoutURL),
            ("{\"provider_url\":\"https://\(String(repeating: "a", count: 2048))\"}", .withoutURL),
        ])
    func refused(text: String, refusal: RequestRefusal) {
        #expect(throws: ProximityError.requestRefused(refusal)) { try ProximityRequest(parsing: Array(text.utf8)) }
    }

    @Test("a proximity request that is not UTF-8 is refused before it is read as JSON")
    func notUTF8() {
        let bytes = Array("{\"provider_url\":\"https://a\",\"device_name\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8)
        #expect(throws: ProximityError.requestRefused(.notUTF8)) { try ProximityRequest(parsing: bytes) }
    }

    @Test("a proximity request shows a name on one line of at most 64 characters, without hiding characters")
    func displayName() {
        #expect(DisplayText.clean("  My\u{0}\u{1B}[31m  Phone\n\u{202E}txt\u{200B} ") == "My[31m Phone txt")
        #expect(DisplayText.clean(String(repeating: "é", count: 500)).unicodeScalars.count == 64)
        #expect(DisplayText.clean("\u{0}\u{7}\n") == "")
        #expect(ProximityRequest(providerURL: ownURL, deviceName: "\n")?.deviceName == nil)
    }
}

@Suite("The collector of one central's pieces")
struct RequestCollectorTests {
    private let now = Duration.seconds(50)

    private func collect(_ pieces: [[UInt8]], _ collector: inout RequestCollector) -> RequestCollector.Outcome {
        var outcome = RequestCollector.Outcome.incomplete
        for piece in pieces { outcome = collector.receive(piece, now: now) }
        return outcome
    }

    @Test("the collector of a central's pieces lets a piece end inside a character (MAG 8.2)")
    func bytes() {
        let text = Array("{\"provider_url\":\"\(ownURL)\",\"device_name\":\"Küchenbrett öäü\"}".utf8)
        for size in 1...30 {
            var collector = RequestCollector()
            let pieces = stride(from: 0, to: text.count, by: size).map { Array(text[$0..<min($0 + size, text.count)]) }
            let outcome = collect(pieces + [Array("EOM".utf8)], &collector)
            #expect(outcome == .request(ProximityRequest(providerURL: ownURL, deviceName: "Küchenbrett öäü")!))
        }
    }

    @Test("the collector of a central's pieces ends at an EOM written by itself, then is empty (MAG 8.5)")
    func endMark() {
        var collector = RequestCollector()
        #expect(collect([Array("EOM ".utf8), Array("xEOM".utf8)], &collector) == .incomplete)
        #expect(collect([Array("EOM".utf8)], &collector) == .refused(.notJSON))
        #expect(collector.deadline == nil)
        #expect(collect(pieces(), &collector) == .request(ProximityRequest(providerURL: ownURL, deviceName: "Pixel")!))
    }

    @Test("the collector of a central's pieces refuses more than 8 KiB, in however small pieces")
    func tooLong() {
        var collector = RequestCollector()
        #expect(collect([[UInt8](repeating: 32, count: 8192)], &collector) == .incomplete)
        #expect(collector.receive([32], now: now) == .refused(.tooLong))
        for _ in 0..<1024 { #expect(collector.receive([], now: now) == .incomplete) }
        #expect(collector.receive([], now: now) == .refused(.tooLong))
    }

    @Test("the collector of a central's pieces refuses what is not complete 30 s after its first piece")
    func tooSlow() {
        var collector = RequestCollector()
        #expect(collector.receive([123], now: now) == .incomplete)
        #expect(collector.deadline == now + .seconds(30))
        #expect(!collector.isLate(at: now + .milliseconds(29_999)))
        #expect(collector.receive([125], now: now + .seconds(30)) == .refused(.tooSlow))
        #expect(collector.deadline == nil)
    }
}
