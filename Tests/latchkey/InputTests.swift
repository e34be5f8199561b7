import Foundation
import Groundwork
import LocalAPI
import Testing

@testable import latchkey

@Suite("Input of the command", .timeLimit(.minutes(5)))
struct InputTests {
    @Test("input of the command is bounded")
    func bounded() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "input-\(UUID().uuidString)")
        try Data(repeating: 1, count: 100).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Input.file(file.path, limit: 100).count == 100)
        #expect(throws: InputError.tooLong(name: file.path, limit: 99)) { try Input.file(file.path, limit: 99) }
        #expect(throws: InputError.tooLong(name: "/dev/zero", limit: 1 << 20)) {
            try Input.file("/dev/zero", limit: 1 << 20)
        }
    }

    @Test("the first line of standard input is read as shells write it: with a mark, in UTF-16, with any line end")
    func firstLine() throws {
        let texts = ["s3cret ", "s3cret \n", "s3cret \r\nmore\n", "\u{FEFF}s3cret \r"]
        for text in texts { #expect(try Input.firstLine(of: Array(text.utf8)) == "s3cret ") }
        #expect(try Input.firstLine(of: [0xFF, 0xFE] + "s3cret \r\n".utf8.flatMap { [$0, 0] }) == "s3cret ")
        #expect(try Input.lines(of: Array("a\r\nb\n".utf8)) == ["a", "b", ""])
        #expect(
            throws: InputError.unreadable(name: "standard input", reason: "line 1 is not UTF-8: save it as UTF-8")
        ) { try Input.firstLine(of: [0x61, 0xE4]) }
    }

    @Test("the largest payload fits into a request")
    func payload() {
        #expect(
            Base64.encode([UInt8](repeating: 0, count: Input.payloadLimit)).utf8.count + (64 << 10)
                < LocalServer.Limits().bodyBytes)
    }
}
