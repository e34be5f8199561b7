import Foundation
import Glibc
import Testing

@testable import Groundwork

@Suite("Lock files")
struct LockFileTests {
    private func withPath(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "lock-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appending(path: "thing").path)
    }

    @Test("a lock file is for its user alone, names its holder, and goes with the lock")
    func life() throws {
        try withPath { path in
            do {
                let lock = try LockFile(beside: path)
                var status = stat()
                #expect(stat(path + ".lock", &status) == 0)
                #expect(status.st_mode & 0o777 == 0o600)
                for patience in [Duration.zero, .milliseconds(30)] {
                    #expect(throws: LockFile.Failure.held(by: getpid())) {
                        _ = try LockFile(beside: path, patience: patience)
                    }
                }
                withExtendedLifetime(lock) {}
            }
            #expect(!FileManager.default.fileExists(atPath: path + ".lock"))
            _ = try LockFile(beside: path)
        }
    }

    @Test("a lock file that a dead process left behind is taken over, and a link is not followed")
    func leftBehind() throws {
        try withPath { path in
            try "4711\n".write(toFile: path + ".lock", atomically: false, encoding: .utf8)
            _ = try LockFile(beside: path)
            try #require(symlink("elsewhere", path + ".lock") == 0)
            #expect(throws: LockFile.Failure.impossible(Errno(ELOOP))) { _ = try LockFile(beside: path) }
            #expect(!FileManager.default.fileExists(atPath: path.replacing("thing", with: "elsewhere")))
        }
    }

    @Test("a lock file of another user is not used", .enabled(if: geteuid() == 0, "files of other users need root"))
    func stranger() throws {
        try withPath { path in
            try "".write(toFile: path + ".lock", atomically: false, encoding: .utf8)
            try #require(chown(path + ".lock", 65_534, 65_534) == 0)
            #expect(throws: LockFile.Failure.impossible(Errno(EPERM))) { _ = try LockFile(beside: path) }
        }
    }

    @Test("of many who want a lock, one at a time has it")
    func many() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "lock-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (path, count) = (folder.appending(path: "thing").path, folder.appending(path: "count").path)
        try "0".write(toFile: count, atomically: false, encoding: .utf8)
        let threads = (0..<8).map { _ in
            Task.detached {
                for _ in 0..<20 {
                    let lock = try LockFile(beside: path, patience: .seconds(120))
                    let number = try #require(Int(try String(contentsOfFile: count, encoding: .utf8)))
                    try "\(number + 1)".write(toFile: count, atomically: false, encoding: .utf8)
                    withExtendedLifetime(lock) {}
                }
            }
        }
        for thread in threads { try await thread.value }
        #expect(try String(contentsOfFile: count, encoding: .utf8) == "160")
    }
}
