import Foundation
import Glibc
import Testing

@testable import latchkey

/// Root writes where another user was first.
@Suite("Output in a folder of strangers", .enabled(if: geteuid() == 0, "files of other users need root"))
struct OutputPlaceTests {
    private static let stranger: uid_t = 65_534

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "strangers-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try "kept".write(to: folder.appending(path: "other"), atomically: false, encoding: .utf8)
        try body(folder.path)
    }

    private func give(_ path: String) throws { try #require(lchown(path, Self.stranger, Self.stranger) == 0) }

    /// Its user and mode.
    private func state(of path: String) -> [UInt32] {
        var status = stat()
        guard lstat(path, &status) == 0 else { return [] }
        return [status.st_uid, status.st_mode & 0o777]
    }

    private func text(of path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    private func download(_ text: String, to path: String) throws {
        var download = try Download(to: path)
        try download.begin(200)
        try download.write(Array(text.utf8))
        try download.finish()
    }

    @Test("a stranger's link is not followed, wherever it is on the way", arguments: ["link", "own"])
    func link(name: String) throws {
        try withFolder { folder in
            try #require(symlink("other", "\(folder)/link") == 0)
            try give("\(folder)/link")
            try #require(symlink("link", "\(folder)/own") == 0)
            let path = "\(folder)/\(name)"
            let refused = InputError.unwritable(
                name: path, reason: "'\(folder)/link' is a link of another user, who can point it anywhere")
            #expect(throws: refused) { try download("new", to: path) }
            #expect(throws: refused) { try Output.file(path, Array("new".utf8)) }
            #expect(try text(of: "\(folder)/other") == "kept")
        }
    }

    @Test("a stranger's FIFO is not written to")
    func fifo() throws {
        try withFolder { folder in
            let path = "\(folder)/fifo"
            try #require(mkfifo(path, 0o666) == 0)
            try give(path)
            let reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            defer { close(reader) }
            let refused = InputError.unwritable(name: path, reason: "it is a FIFO of another user")
            #expect(throws: refused) { try download("new", to: path) }
            #expect(throws: refused) { try Output.file(path, [1]) }
            #expect(throws: refused) { try Output.newFileOrNode(path, [1]) }
        }
    }

    @Test("a stranger's file is replaced by one of the caller's own, and a beginning in one is not written to")
    func files() throws {
        try withFolder { folder in
            let path = "\(folder)/file"
            for suffix in ["", ".part"] {
                try "strange".write(toFile: path + suffix, atomically: false, encoding: .utf8)
                try #require(chmod(path + suffix, 0o666) == 0)
                try give(path + suffix)
            }
            let opened = try #require(FileHandle(forReadingAtPath: path + ".part"))
            try download("new", to: path)
            #expect(try opened.readToEnd() == Data("strange".utf8))
            #expect(state(of: path) == [0, 0o644])
            #expect(try text(of: path) == "new")
            try give(path)
            try Output.file(path, Array("newer".utf8))
            #expect(state(of: path) == [0, 0o644])
            #expect(try text(of: path) == "newer")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["file", "other"])
        }
    }

    @Test("a beginning that leads elsewhere is not written through", arguments: [false, true])
    func part(isHardLink: Bool) throws {
        try withFolder { folder in
            let path = "\(folder)/file"
            try #require((isHardLink ? Glibc.link : symlink)("\(folder)/other", path + ".part") == 0)
            try download("new", to: path)
            #expect(try text(of: path) == "new")
            #expect(try text(of: "\(folder)/other") == "kept")
        }
    }
}
