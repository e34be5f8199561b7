import Foundation
import TestSupport
import Testing

@testable import Board

@Suite("A code scanner", .timeLimit(.minutes(5)))
struct CodeScannerTests {
    /// The keys of a US keyboard, in the order of their codes, without and with Shift.
    private static let rows: [(first: UInt16, plain: String, shifted: String)] = [
        (2, "1234567890-=", "!@#$%^&*()_+"), (16, "qwertyuiop[]", "QWERTYUIOP{}"),
        (30, "asdfghjkl;'`", "ASDFGHJKL:\"~"), (43, "\\zxcvbnm,./", "|ZXCVBNM<>?"),
    ]

    /// As a scanner types a text, with Shift held for each character that needs it.
    private func typed(_ text: String) throws -> [UInt8] {
        try text.flatMap { character -> [UInt8] in
            for row in Self.rows {
                for (keys, isShifted) in [(row.plain, false), (row.shifted, true)] {
                    guard let index = keys.firstIndex(of: character) else { continue }
                    let code = row.first + UInt16(keys.distance(from: keys.startIndex, to: index))
                    return isShifted
                        ? Keys.event(1, 42, 1) + Keys.press(code) + Keys.event(1, 42, 0) : Keys.press(code)
                }
            }
            throw Unexpected("no key for \(character)")
        }
    }

    private func outcomes(_ bytes: [UInt8]) throws -> [TypedText.Outcome] {
        var text = TypedText()
        return try #require(KeyEvent.all(in: bytes)).map { text.receive($0) }.filter { $0 != .nothing }
    }

    @Test("a code scanner gives each line as it is printed, of every character that a URL may have")
    func lines() throws {
        let url = "https://Gw.example:8443/a_b-c~d/?x=%2F&y=(1)+2*3;4,5!'$#@[]"
        #expect(
            try outcomes(typed(url) + Keys.press(28, 28) + typed("Second") + Keys.press(96))
                == [.line(url), .line("Second")])
        // Held keys repeat nothing; keys that type nothing are left out.
        #expect(try outcomes(Keys.event(1, 30, 1) + Keys.event(1, 30, 2) + Keys.press(1, 15, 59, 28)) == [.line("a")])
    }

    @Test("a code scanner gives no part of a line that is too long, or that the kernel dropped some of")
    func bounds() throws {
        let long = (0...TypedText.limit).flatMap { _ in Keys.press(30) }
        #expect(try outcomes(long + Keys.press(28, 30, 28)) == [.tooLong, .line("a")])
        // The rest of a code is not a code.
        let holed = try typed("lost") + Keys.event(0, 3, 0) + typed("rest") + Keys.press(28)
        #expect(try outcomes(holed + typed("Whole") + Keys.press(28)) == [.incomplete, .line("Whole")])
    }

    @Test("a code scanner passes on one text after another, and is named when it is not there")
    func reading() async throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        try #require(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
        let (scans, scan) = AsyncStream.makeStream(of: CodeScanner.Scan.self)
        let scanner = CodeScanner(name: "Scanner")
        let reading = Task { [end = ends[0]] in try await scanner.read(from: end) { scan.yield($0) } }
        var received = scans.makeAsyncIterator()
        for text in ["first", "second"] {
            let bytes = try typed(text) + Keys.press(28)
            #expect(write(ends[1], bytes, bytes.count) == bytes.count)
            #expect(await received.next() == .text(text))
        }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        await #expect(throws: BoardError.scannerFailed(name: "/dev/null", reason: "it is not an input device")) {
            try await CodeScanner(name: "/dev/null").run(onReady: {}, { _ in })
        }
    }

    @Test("a code scanner is found by the name that the kernel has for it")
    func named() throws {
        let tree = try FakeTree([
            "/sys/class/input/event3/device/name": "Keyboard\n",
            "/sys/class/input/event12/device/name": "Acme Scanner\n",
        ])
        #expect(try InputDevice.path(of: "Acme Scanner", on: tree.machine).hasSuffix("/dev/input/event12"))
        #expect(try InputDevice.path(of: "/dev/x", on: tree.machine) == "/dev/x")
        #expect(throws: InputDevice.Fault("no input device has this name")) {
            try InputDevice.path(of: "Acme", on: tree.machine)
        }
    }
}
