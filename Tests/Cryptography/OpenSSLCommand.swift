import Foundation
import Glibc
import TestSupport
import Testing

/// The `openssl` command line, another program's word on what this room writes.
///
/// By `posix_spawn` with descriptors that no other child inherits. Foundation's `Process` hands every child the pipes
/// of its siblings, so that several at once wait for each other's end.
final class OpenSSLCommand {
    struct Result {
        let status: Int32
        let output: String
    }

    private let process: pid_t
    private let input: FileHandle
    private let output: FileHandle
    private var status: Int32?

    /// Starts the command. What it writes to either stream is read by ``read()``.
    init(_ arguments: [String]) throws {
        var (toChild, fromChild): ([Int32], [Int32]) = ([0, 0], [0, 0])
        // Sockets, since they can be made so that no child inherits them in the same call.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &toChild) == 0)
        try #require(socketpair(AF_UNIX, kind, 0, &fromChild) == 0)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 2)
        let words: [UnsafeMutablePointer<CChar>?] = (["openssl"] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let failure = posix_spawnp(&child, "openssl", &actions, nil, words, environ)
        close(toChild[0])
        close(fromChild[1])
        input = FileHandle(fileDescriptor: toChild[1], closeOnDealloc: true)
        output = FileHandle(fileDescriptor: fromChild[0], closeOnDealloc: true)
        process = child
        try #require(failure == 0, "openssl: \(String(cString: strerror(failure)))")
    }

    deinit {
        guard status == nil else { return }
        // Not SIGTERM: the child has the signal mask of a thread of ours, which may block it.
        kill(process, SIGKILL)
        wait()
    }

    /// Runs the command to its end.
    @discardableResult
    static func run(_ arguments: [String], input: [UInt8] = []) throws -> Result {
        let command = try OpenSSLCommand(arguments)
        try command.input.write(contentsOf: Data(input))
        try command.input.close()
        let output = try command.output.readToEnd() ?? Data()
        return Result(status: command.wait(), output: String(decoding: output, as: UTF8.self))
    }

    @discardableResult
    static func run(_ arguments: String..., input: [UInt8] = []) throws -> Result { try run(arguments, input: input) }

    /// What the command has written since the last call; waits until there is something, and is empty at its end.
    func read() -> String { String(decoding: output.nextPiece(), as: UTF8.self) }

    @discardableResult
    private func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        self.status = status
        return status
    }
}

/// A folder that goes with the last reference.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "latchkey-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }

    func write(_ text: String, as name: String) throws -> String {
        try Data(text.utf8).write(to: url.appending(path: name))
        return path(name)
    }
}
