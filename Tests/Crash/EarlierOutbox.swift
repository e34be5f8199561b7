import Foundation
import Storage
import TestSupport

@testable import Messaging

/// An outbox as the version before segments left it: 297 messages and two dead letters, all in its database.
struct EarlierOutbox {
    /// The messages, in their order.
    let readings = (11...310).filter { ![20, 21, 100].contains($0) }.map { "reading \($0 % 3) \($0)" }
    let path: String

    /// Puts it in place of the outbox of a board that is off.
    init(inPlaceOfThatAt folder: URL) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("outbox-") }
        guard let name = names.first(where: { $0.hasSuffix(".db") }) else { throw Unexpected("there is no outbox") }
        for name in names { try FileManager.default.removeItem(at: folder.appending(path: name)) }
        path = folder.appending(path: name).path
        try copy()
        // The age that messages may have ends some day.
        let database = try Database(path: path, migrations: Array(OutboxDatabase.migrations.prefix(2)))
        try database.execute("UPDATE ledger SET owner = NULL; UPDATE message SET accepted_at = 0")
        try database.execute("UPDATE dead_letter SET accepted_at = 0")
        database.close()
    }

    init(at path: String) throws {
        self.path = path
        try copy()
    }

    private func copy() throws {
        let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Messaging/Fixtures/outbox-version-2.db")
        try FileManager.default.copyItem(at: fixture, to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    func messagesLeftInDatabase() throws -> Bool {
        try Data(contentsOf: URL(filePath: path)).firstRange(of: Data("reading 0 12".utf8)) != nil
    }
}
