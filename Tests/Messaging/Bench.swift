import Foundation
import Synchronization

/// A temporary directory, removed with its last reference.
final class Bench: Sendable {
    let directory = FileManager.default.temporaryDirectory.appending(path: "latchkey-messaging-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: directory) }

    func path(_ name: String) -> String { directory.appending(path: name).path }

    /// The names of an outbox's files: its database with the log, and its segments.
    func outboxFiles() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).filter {
            $0.hasPrefix("outbox.db") && !$0.contains(".damaged-")
        }.sorted()
    }

    func segments() throws -> [String] {
        try outboxFiles().filter { $0.wholeMatch(of: /outbox\.db-[0-9a-f]{16}/) != nil }
    }

    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }
}

/// Waits until something has become true; the test's time limit ends it.
func until(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(for: .milliseconds(5)) }
}
