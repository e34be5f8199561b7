import Foundation
import Testing

@testable import Board

/// What the kernel would send for keys.
enum Keys {
    static func event(_ type: UInt16, _ code: UInt16, _ value: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 7, count: KeyEvent.byteCount - 8)
        withUnsafeBytes(of: type) { bytes += $0 }
        withUnsafeBytes(of: code) { bytes += $0 }
        withUnsafeBytes(of: value) { bytes += $0 }
        return bytes
    }

    /// A key that goes down and up, with what comes between on a real device: its scan code, and the end of a report.
    static func press(_ codes: UInt16...) -> [UInt8] {
        var bytes: [UInt8] = []
        for code in codes {
            bytes += event(4, 4, Int32(code))
            for value in [1, 0] as [Int32] { bytes += event(1, code, value) + event(0, 0, 0) }
        }
        return bytes
    }
}

@Suite("Input of a keypad")
struct KeyEventTests {
    @Test("input of a keypad is read as whole events of the kernel's, and anything else is refused")
    func strict() throws {
        let events = try #require(KeyEvent.all(in: Keys.press(2, 80)))
        #expect(events.count == 10 && events.compactMap(\.pressed) == [2, 80])
        #expect(KeyEvent.all(in: Keys.press(2).dropLast()) == nil)
        #expect(KeyEvent.all(in: Keys.event(1, 2, 3)) == nil && KeyEvent.all(in: Keys.event(1, 2, -1)) == nil)
        #expect(KeyEvent.all(in: Keys.event(0x20, 2, 1)) == nil && KeyEvent.all(in: Keys.event(1, 0x300, 1)) == nil)
        #expect(KeyEvent.all(in: [])?.isEmpty == true)
    }

    @Test(
        "input of a keypad is a PIN once it is entered",
        arguments: [
            // The row above the letters, the block beside them, and the keys of telephones.
            ([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 28], "1234567890"),
            ([79, 80, 81, 75, 76, 77, 71, 72, 73, 82, 96], "1234567890"),
            ([513, 521, 512, 352], "190"), ([2, 14, 14, 3, 28], "2"), ([2, 3, 111, 28], "1"),
            // Nothing is entered when nothing is typed, and letters are no digits.
            ([28, 30, 2, 28], "1"),
        ])
    func entered(codes: [UInt16], digits: String) throws {
        var entry = KeypadEntry()
        var outcomes: [KeypadEntry.Outcome] = []
        for code in codes {
            for event in try #require(KeyEvent.all(in: Keys.press(code))) {
                let outcome = entry.receive(event)
                if outcome != .nothing { outcomes.append(outcome) }
            }
        }
        #expect(outcomes == [.entered(Array(digits.utf8))])
    }

    @Test("input of a keypad begins again when the kernel drops some, is bounded, and can be a refusal")
    func bounds() throws {
        var entry = KeypadEntry()
        func receive(_ bytes: [UInt8]) throws -> [KeypadEntry.Outcome] {
            try #require(KeyEvent.all(in: bytes)).map { entry.receive($0) }.filter { $0 != .nothing }
        }
        #expect(try receive(Keys.press(2, 3) + Keys.event(0, 3, 0) + Keys.press(4, 28)) == [.entered([0x33])])
        entry = KeypadEntry()
        let long = (0..<80).flatMap { _ in Keys.press(2) }
        #expect(
            try receive(long + Keys.press(28)) == [.entered(Array(repeating: 0x31, count: KeypadEntry.limit))])
        entry = KeypadEntry()
        #expect(try receive(Keys.press(2, 1)) == [.refused])
        // Holding a key repeats nothing.
        entry = KeypadEntry()
        #expect(try receive(Keys.event(1, 2, 1) + Keys.event(1, 2, 2) + Keys.press(28)) == [.entered([0x31])])
    }
}

@Suite("A keypad", .timeLimit(.minutes(5)))
struct KeypadTests {
    /// A pipe in place of a device, whose events come in any pieces that are whole.
    private func withPipe(_ body: (_ reading: Int32, _ writing: Int32) async throws -> Void) async throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        try #require(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
        try await body(ends[0], ends[1])
    }

    private let keypad = Keypad(path: "/dev/input/event7")

    @Test("a keypad gives what was entered, and ends when its reader does")
    func entry() async throws {
        try await withPipe { reading, writing in
            let first = Keys.press(2, 3)
            #expect(write(writing, first, first.count) == first.count)
            let entry = Task { try await keypad.entry(from: reading) }
            let rest = Keys.press(4, 28)
            #expect(write(writing, rest, rest.count) == rest.count)
            let entered = try await entry.value
            #expect(entered == .digits(Array("123".utf8)))

            let waiting = Task { try await keypad.entry(from: reading) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
    }

    @Test("a keypad that sends something else, or is not an input device, is an error that names it")
    func faults() async throws {
        try await withPipe { reading, writing in
            let half = Keys.press(2).dropLast()
            #expect(write(writing, Array(half), half.count) == half.count)
            await #expect(
                throws: BoardError.keypadFailed(
                    path: "/dev/input/event7", reason: "it sends something other than kernel events")
            ) { try await keypad.entry(from: reading) }
        }
        await #expect(
            throws: BoardError.keypadFailed(path: "/dev/null", reason: "it is not an input device")
        ) { try await Keypad(path: "/dev/null").entry() }
        await #expect(throws: BoardError.self) { try await Keypad(path: "/nonexistent").entry() }
    }
}
