import Glibc
import Groundwork
import Proximity

/// Who was let in, when, how and by whose consent: a line of JSON each, kept over restarts.
///
/// Runs on ``NamedThread/storage``, as every line is on disk before the next is taken. Beyond its limit the file becomes
/// the former one, and the one before that goes.
actor AuditLog {
    nonisolated var unownedExecutor: UnownedSerialExecutor { NamedThread.storage.asUnownedSerialExecutor() }

    /// Of the file that is written to, in bytes; some thousand lines.
    static let limit = 1 << 20

    private let path: String

    init(directory: String) { path = "\(directory)/proximity-audit.jsonl" }

    /// - Throws: ``AgentError/stateDirectory(path:reason:)``
    func append(_ record: AuditRecord) throws(AgentError) {
        var status = stat()
        if stat(path, &status) == 0, Int(status.st_size) >= Self.limit { rename(path, "\(path).1") }
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        let line = record.json.bytes + [UInt8(ascii: "\n")]
        guard line.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == line.count, fdatasync(descriptor) == 0
        else { throw failure() }
    }

    /// The newest records, the newest last; a line that a power cut left half written is left out.
    func newest(_ count: Int) -> [JSON] {
        ["\(path).1", path].flatMap { path in
            let bytes = (try? SmallFile.read(path, limit: Self.limit + 65_536)) ?? []
            return bytes.split(separator: UInt8(ascii: "\n")).compactMap { try? JSON(parsing: $0) }
        }.suffix(count)
    }

    private func failure() -> AgentError { .stateDirectory(path: path, reason: String(cString: strerror(errno))) }
}
