import CLinux
import Foundation

/// Starts programs with nothing of this process but three streams, and with no signal blocked.
///
/// Foundation's `Process` passes on whatever descriptors and blocked signals its thread has at the time: children
/// started side by side then hold each other's ends, and are neither noticed when they end nor end when they are told
/// to.
package enum ChildProcess {
    /// The program ends with this process, whatever ends it (``TestRun``).
    ///
    /// - Parameter streams: descriptors of its standard input, output and error.
    package static func spawn(_ arguments: [String], variables: [String], streams: [Int32]) throws -> pid_t {
        try spawnUnmarked(arguments, variables: TestRun.marked(variables), streams: streams)
    }

    /// The program is not part of the run.
    package static func spawnUnmarked(_ arguments: [String], variables: [String], streams: [Int32]) throws -> pid_t {
        try spawn(arguments, variables: variables) { actions in
            for (number, descriptor) in streams.enumerated() {
                posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
            }
        }
    }

    /// - Parameters:
    ///   - flags: attributes of the process beside those of its signals.
    ///   - addStreams: adds what opens its standard input, output and error. All other descriptors are closed.
    package static func spawn(
        _ arguments: [String], variables: [String], flags: Int32 = 0,
        _ addStreams: (inout posix_spawn_file_actions_t) -> Void
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        addStreams(&actions)
        // In the child, so that none that another thread opens meanwhile is missed.
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | flags))

        var process: pid_t = 0
        var argv = arguments.map { strdup($0) } + [nil]
        var environment = variables.map { strdup($0) } + [nil]
        defer { for text in argv + environment { free(text) } }
        let status = posix_spawn(&process, arguments[0], &actions, &attributes, &argv, &environment)
        guard status == 0 else {
            throw Unexpected("cannot start \(arguments[0]): \(String(cString: strerror(status)))")
        }
        return process
    }

    /// Blocks until the process has ended.
    ///
    /// - Returns: its exit status, or 128 and the signal that ended it.
    package static func waitForExit(of process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { guard errno == EINTR else { return -1 } }
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }
}

package struct Unexpected: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}
