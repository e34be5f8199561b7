import Foundation

@testable import Board

/// A machine whose `/proc`, `/sys` and `/dev` are files in a temporary folder. Removed with the last reference.
final class FakeTree: Sendable {
    let root: String
    var machine: Machine { Machine(root: root) }

    init(_ files: [String: String] = [:]) throws {
        root = FileManager.default.temporaryDirectory.appendingPathComponent("board-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        for (path, content) in files { try write(content, to: path) }
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    func write(_ content: String, to path: String) throws {
        let url = URL(fileURLWithPath: root + path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(content.utf8).write(to: url)
    }

    func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: root + path) }

    func move(_ path: String, to other: String) throws {
        try FileManager.default.moveItem(atPath: root + path, toPath: root + other)
    }

    func link(_ path: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: root + path, withDestinationPath: root + target)
    }
}
