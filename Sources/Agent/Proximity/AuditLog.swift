import Glibc
import Groundwork
import Proximity

/// Who was let in, when, how and by whose consent: a line of JSON each, kept over restarts.
///
/// Runs on ``NamedThread/storage``, as every line is on disk before the next is taken. Beyond its limit the file becomes
/// the former one, and the one before that goes.
actor AuditLog {
    nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

    private static let lineFeed = UInt8(ascii: "\n")

    private let path: String
    /// Of the file that is written to, in bytes; the preset is some thousand lines.
    private let limit: Int

    init(directory: String, limit: Int = 1 << 20) {
        path = "\(directory)/proximity-audit.jsonl"
        self.limit = limit
    }

    /// - Throws: ``AgentError/stateDirectory(path:reason:)``
    func append(_ record: AuditRecord) throws(AgentError) {
        var status = stat()
        if stat(path, &status) == 0, Int(status.st_size) >= limit { rename(path, "\(path).1") }
        let descriptor = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        // A line that a power cut left half written must not take this one with it.
        let line = (endsInsideLine(descriptor) ? [Self.lineFeed] : []) + record.json.bytes + [Self.lineFeed]
        guard line.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == line.count, fdatasync(descriptor) == 0
        else { throw failure() }
    }

    private func endsInsideLine(_ descriptor: Int32) -> Bool {
        let end = lseek(descriptor, 0, SEEK_END)
        var last: UInt8 = 0
        return end > 0 && pread(descriptor, &last, 1, end - 1) == 1 && last != Self.lineFeed
    }

    /// The newest records, the newest last; a line that a power cut left half written is left out.
    func newest(_ count: Int) -> [JSON] {
        var newest: [JSON] = []
        for path in [path, "\(path).1"] {
            let bytes = (try? SmallFile.read(path, limit: limit + 65_536)) ?? []
            for line in bytes.split(separator: Self.lineFeed).reversed() where newest.count < count {
                if let record = try? JSON(parsing: line) { newest.append(record) }
            }
        }
        return newest.reversed()
    }

    private func failure() -> AgentError { .stateDirectory(path: path, reason: String(cString: strerror(errno))) }
}
