import Foundation
import Glibc

/// A program beside the tests.
///
/// By `posix_spawn`. Foundation's `Process` lists this process's descriptors before it starts a child, and crashed on
/// that list where another test had opened a thousand at that moment.
enum OtherProgram {
    /// What it writes to standard output until it ends.
    static func output(of arguments: [String]) async throws -> String {
        var ends: [Int32] = [0, 0]
        // A socket, as it can be made so that no other child inherits it in the same call.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw POSIXError(.EMFILE)
        }
        let (reading, writing) = (ends[0], ends[1])
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, writing, STDOUT_FILENO)
        let words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var child: pid_t = 0
        let failure = posix_spawnp(&child, arguments[0], &actions, nil, words, environ)
        for word in words { free(word) }
        posix_spawn_file_actions_destroy(&actions)
        close(writing)
        guard failure == 0 else {
            close(reading)
            throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .ENOENT)
        }
        let process = child
        return await withCheckedContinuation { continuation in
            // Blocks until the program ends, so on a thread that may.
            Thread.detachNewThread {
                let output = FileHandle(fileDescriptor: reading, closeOnDealloc: true)
                let bytes = (try? output.readToEnd()) ?? Data()
                var status: Int32 = 0
                while waitpid(process, &status, 0) < 0, errno == EINTR {}
                continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
    }
}
