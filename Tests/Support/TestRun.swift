import Foundation
import Glibc

/// What these tests start is ended when this process is gone, whatever ended it: `deploy/reaper` waits for that in
/// a session of its own, and knows what belongs to the run by a mark in its environment.
///
/// Not `PR_SET_PDEATHSIG`: it strikes when the *thread* that started a program ends, reaches no grandchildren, and
/// is forgotten where a program changes its user.
package enum TestRun {
    private static let variable = "LATCHKEY_RUN"

    /// This process's environment, with the mark that makes a program part of the run.
    package static var environment: [String: String] {
        ProcessInfo.processInfo.environment.merging([variable: marks]) { _, own in own }
    }

    /// Marks a program's environment.
    package static func marked(_ variables: [String]) -> [String] {
        variables.filter { !$0.hasPrefix("\(variable)=") } + ["\(variable)=\(marks)"]
    }

    /// The marks of the runs that this one is part of, and its own. The first who asks has the run watched.
    private static let marks: String = {
        let mark = String(UInt64.random(in: .min ... .max), radix: 16)
        watch(mark)
        return [ProcessInfo.processInfo.environment[variable], mark].compactMap(\.self).joined(separator: ":")
    }()

    /// Its standard input ends with this process, as nobody else has the other end.
    private static func watch(_ mark: String) {
        let reaper = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../deploy/reaper")
            .standardizedFileURL
        var ends: [Int32] = [0, 0]
        // A socket, as it can be made so that no child inherits it in the same call.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else { return }
        let variables = ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" }
        _ = try? ChildProcess.spawnUnmarked(
            ["/usr/bin/python3", reaper.path, "--watch", mark], variables: variables,
            streams: [ends[0], STDERR_FILENO, STDERR_FILENO])
        close(ends[0])
        // The other end stays open for as long as there is this process.
    }
}
