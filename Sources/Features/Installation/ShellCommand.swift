import AgentCore
import Glibc

/// Commands of the system.
package enum ShellCommand {
    /// Runs a command and returns the beginning of what it prints. Blocks until the command has ended.
    ///
    /// - Parameters:
    ///   - command: a line of the shell, of constant text: nothing from outside may be in it.
    ///   - limit: the most that is returned, in bytes; the command may get `SIGPIPE` for more.
    /// - Returns: `nil` if it cannot be started.
    package static func output(of command: String, limit: Int) -> String? {
        guard let stream = popen(command, "re") else { return nil }
        defer { pclose(stream) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = fread(&bytes, 1, bytes.count, stream)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
