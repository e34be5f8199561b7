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

    @Test("the largest payload fits into a request")
    func payload() {
        #expect(
            Base64.encode([UInt8](repeating: 0, count: Input.payloadLimit)).utf8.count + (64 << 10)
                < LocalServer.Limits().bodyBytes)
    }
}
