import AgentCore
import Glibc
import Groundwork
import Proximity

/// A log of who was let in, when, how and by whose consent, and who was refused: a line of JSON each, kept across
/// restarts.
///
/// Runs on ``NamedThread/storage``, because every line is on disk before the next is accepted. Grants and refusals have
/// separate files. A file beyond its limit is renamed, replacing the one renamed before. So a device that is refused
/// over and over, which needs no consent, does not push out the record of who was let in.
final actor AuditLog {
    nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

    private static let lineFeed = UInt8(ascii: "\n")

    /// The file of grants, whatever their outcome.
    private let granted: String
    private let refused: String
    /// The size, in bytes, beyond which a file is renamed; the default is some thousand lines.
    private let limit: Int

    /// - Parameter name: what the files' names begin with.
    init(directory: String, name: String = "proximity", limit: Int = 1 << 20) {
        granted = "\(directory)/\(name)-audit.jsonl"
        refused = "\(directory)/\(name)-refusals.jsonl"
        self.limit = limit
    }

    /// - Throws: ``AgentError/stateDirectory(path:reason:)``
    func append(_ record: AuditRecord) throws(AgentError) {
        try append(record.json, isRefusal: record.outcome == .refused)
    }

    /// - Throws: ``AgentError/stateDirectory(path:reason:)``
    func append(_ record: JSON, isRefusal: Bool) throws(AgentError) {
        let path = isRefusal ? refused : granted
        var status = stat()
        if stat(path, &status) == 0, Int(status.st_size) >= limit { rename(path, "\(path).1") }
        let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        // A line left incomplete by a power cut must not spoil this one.
        let line = (endsInsideLine(descriptor) ? [Self.lineFeed] : []) + record.bytes + [Self.lineFeed]
        guard line.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == line.count,
            fdatasync(descriptor) == 0
        else { throw failure(path) }
    }

    private func endsInsideLine(_ descriptor: Int32) -> Bool {
        let end = lseek(descriptor, 0, SEEK_END)
        var last: UInt8 = 0
        return end > 0 && pread(descriptor, &last, 1, end - 1) == 1 && last != Self.lineFeed
    }

    /// The newest records of both kinds, the newest last, without lines left incomplete by a power cut.
    func newest(_ count: Int) -> [JSON] {
        // Each file is in order; records of both are ordered by their times, and within a second by their numbers.
        var sources = [granted, refused].map { newest(count, in: $0)[...] }
        var merged: [JSON] = []
        while merged.count < count {
            let heads = sources.indices.filter { !sources[$0].isEmpty }
            guard let next = heads.max(by: { Self.goesBefore(sources[$0].last, sources[$1].last) }) else { break }
            merged.append(sources[next].removeLast())
        }
        return merged.reversed()
    }

    private func newest(_ count: Int, in file: String) -> [JSON] {
        var newest: [JSON] = []
        var concluded: Set<String> = []
        for path in [file, "\(file).1"] {
            let bytes = (try? BoundedFile.read(path, limit: limit + 65_536)) ?? []
            for line in bytes.split(separator: Self.lineFeed).reversed() where newest.count < count {
                guard let record = try? JSON(parsing: line) else { continue }
                // What was recorded before its outcome was known is left out once that is.
                let question = "\(record["time"]?.string ?? "") \(record["id"]?.integer ?? 0)"
                guard record["outcome"] != "unknown" || !concluded.contains(question) else { continue }
                concluded.insert(question)
                newest.append(record)
            }
        }
        return newest.reversed()
    }

    private static func goesBefore(_ one: JSON?, _ other: JSON?) -> Bool {
        let (first, second) = (one?["time"]?.string ?? "", other?["time"]?.string ?? "")
        return (first, one?["id"]?.integer ?? 0) < (second, other?["id"]?.integer ?? 0)
    }

    private func failure(_ path: String) -> AgentError {
        .stateDirectory(path: path, reason: String(cString: strerror(errno)))
    }
}
