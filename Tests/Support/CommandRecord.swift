import Foundation
import Glibc
import Synchronization

/// Records what commands print with `--json`, so that `deploy/check-answers` can compare it with
/// `Config/cli-json.schema.json` when all tests have ended.
///
/// Active only if the environment variable `LATCHKEY_RECORD_ANSWERS` names a folder.
enum CommandRecord {
    /// Streams repeat themselves.
    private static let lineLimit = 200
    private static let lock = Mutex(())

    /// - Parameter status: the exit status of a command that has ended.
    static func add(_ program: URL, _ arguments: [String], _ status: Int32, output: Data, errors: Data) {
        guard let folder = ProcessInfo.processInfo.environment["LATCHKEY_RECORD_ANSWERS"], !folder.isEmpty,
            program.lastPathComponent == "latchkey", arguments.contains("--json")
        else { return }
        // What follows the last line feed was cut off when the command was ended.
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let record: [String: Any] = [
            "words": Array(arguments.prefix { !$0.hasPrefix("-") }.prefix(3)), "status": Int(status),
            "lines": lines.dropLast().prefix(lineLimit).map(String.init),
            "error": String(decoding: errors, as: UTF8.self).split(separator: "\n").last.map(String.init) ?? "",
        ]
        guard let line = try? JSONSerialization.data(withJSONObject: record) else { return }
        lock.withLock { _ in
            let file = open("\(folder)/\(getpid()).printed", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
            guard file >= 0 else { return }
            defer { close(file) }
            let bytes = line + [UInt8(ascii: "\n")]
            _ = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        }
    }
}
