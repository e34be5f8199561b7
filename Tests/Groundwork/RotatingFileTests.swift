import Foundation
import TestSupport
import Testing

@testable import Groundwork

@Suite("A log file of bounded size")
struct RotatingFileTests {
    private func lines(_ file: RotatingFile) -> [String] {
        file.newestLines.map { String(decoding: $0, as: UTF8.self) }
    }

    private func withFile(limit: Int, _ body: (RotatingFile) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-rotating-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(RotatingFile(folder.path + "/log", limit: limit))
    }

    @Test("a log file is for its owner alone, and has its lines from the newest on")
    func lines() throws {
        try withFile(limit: 100) { file in
            #expect(lines(file) == [])
            for line in ["one", "two", "three"] { try file.append(Array(line.utf8)) }
            #expect(lines(file) == ["three", "two", "one"])
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
            #expect(mode as? Int == 0o600)
        }
    }

    @Test("a log file is renamed at its limit, and only one renamed file is kept")
    func rotation() throws {
        try withFile(limit: 6) { file in
            for number in 1...8 { try file.append(Array("\(number)".utf8)) }
            #expect(lines(file) == ["8", "7", "6", "5", "4"])
            #expect(try String(contentsOfFile: file.path + ".1", encoding: .utf8) == "4\n5\n6\n")
            let folder = URL(filePath: file.path).deletingLastPathComponent().path
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["log", "log.1"])
        }
    }

    @Test("an incomplete line of a log file does not spoil the next one")
    func torn() throws {
        try withFile(limit: 100) { file in
            try Data("one\ntw".utf8).write(to: URL(filePath: file.path))
            try file.append(Array("three".utf8))
            #expect(lines(file) == ["three", "tw", "one"])
        }
    }

    @Test("a log file that is a link or has no folder is refused, with the reason")
    func refused() throws {
        try withFile(limit: 100) { file in
            try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: file.path + ".other")
            #expect(throws: FileFault.system(Errno(ELOOP))) { try file.append([]) }
            #expect(!FileManager.default.fileExists(atPath: file.path + ".other"))
        }
        #expect(throws: FileFault.system(Errno(ENOENT))) { try RotatingFile("/nowhere/log", limit: 1).append([]) }
    }

    @Test("a log file on a full disk says so")
    func full() {
        #expect(throws: FileFault.system(Errno(ENOSPC))) { try RotatingFile("/dev/full", limit: .max).append([1]) }
    }
}
