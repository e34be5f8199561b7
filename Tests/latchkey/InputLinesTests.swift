import Foundation
import TestSupport
import Testing

@testable import latchkey

@Suite("Lines of standard input", .timeLimit(.minutes(5)))
struct InputLinesTests {
    /// The batches of what is written to a file.
    private func batches(_ text: String, lineLimit: Int = 1 << 20) throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appending(path: "lines-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        let handle = try FileHandle(forReadingFrom: file)
        try FileManager.default.removeItem(at: file)
        var lines = InputLines(handle.fileDescriptor, lineLimit: lineLimit)
        var batches: [String] = []
        while let batch = try lines.next() { batches.append(String(decoding: batch, as: UTF8.self)) }
        return batches
    }

    @Test(
        "input lines that are there at once are one batch, also where the last line does not end",
        arguments: ["", "a\n", "a\nb\n", "a\nb", "\n\n", "a"])
    func together(text: String) throws {
        #expect(
            try batches(text)
                == (text.isEmpty ? [] : text.hasSuffix("\n") || !text.contains("\n") ? [text] : ["a\n", "b"]))
    }

    @Test("no batch of input has more lines or bytes than the daemon takes, and nothing is lost or torn")
    func bounds() throws {
        let text = (0..<10_000).map { "\($0) " + String(repeating: "x", count: $0 % 400) + "\n" }.joined()
        let found = try batches(text)
        #expect(found.joined() == text)
        for batch in found {
            #expect(batch.hasSuffix("\n"))
            #expect(batch.utf8.count { $0 == 0x0A } <= InputLines.batchLines)
            #expect(batch.utf8.count <= InputLines.batchBytes)
        }
        let short = String(repeating: "\n", count: 5000)
        #expect(try batches(short).map(\.utf8.count) == [2000, 2000, 1000])
    }

    @Test("an input line longer than a batch is one by itself, and one too long for a message is refused")
    func longLines() throws {
        let long = String(repeating: "y", count: 300_000)
        #expect(try batches("a\n\(long)\nb\n").joined() == "a\n\(long)\nb\n")
        #expect(throws: InputError.tooLong(name: "a line of standard input", limit: 1000)) {
            try batches(String(repeating: "z", count: 600_000), lineLimit: 1000)
        }
    }

    @Test("an input line is handed out when it has come, while the writer is still there")
    func atOnce() throws {
        let pipe = try PrivatePipe()
        var lines = InputLines(pipe.reading.fileDescriptor, lineLimit: 1000)
        try pipe.writing.write(contentsOf: Data("first\nsec".utf8))
        #expect(try lines.next().map { String(decoding: $0, as: UTF8.self) } == "first\n")
        try pipe.writing.write(contentsOf: Data("ond\n".utf8))
        #expect(try lines.next().map { String(decoding: $0, as: UTF8.self) } == "second\n")
        try pipe.writing.close()
        #expect(try lines.next() == nil)
    }
}
