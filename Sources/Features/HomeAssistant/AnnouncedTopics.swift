import Glibc
import Groundwork
import Messaging
import Storage

/// Remembers, in a file of the state directory, under which topics the broker keeps what was announced: they are
/// cleared when the settings want others, or none.
struct AnnouncedTopics: Sendable {
    private let path: String

    init(in directory: String) { path = "\(directory)/home-assistant" }

    /// A few topics of at most 64 KiB each.
    private static let byteLimit = 256 << 10

    /// Empty if nothing was announced, or the file cannot be read.
    var all: [Topic] {
        guard let bytes = try? BoundedFile.read(path, limit: Self.byteLimit, .regularWithoutLink) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { try? Topic(String($0)) }
    }

    func remember(_ topics: [Topic]) throws(StorageError) {
        guard topics != all else { return }
        let draft = "\(path).new"
        let file = try PlainFile(draft, creating: true, of: path)
        try file.write(Array(topics.map { $0.name + "\n" }.joined().utf8), at: 0)
        try file.sync()
        try PlainFile.rename(draft, to: path, of: path)
        try PlainFile.syncNames(beside: path)
    }

    func forget() throws(StorageError) {
        unlink(path)
        try PlainFile.syncNames(beside: path)
    }
}
