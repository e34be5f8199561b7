import Foundation
import TestSupport
import Testing

@Suite(
    "The virtual board",
    .needsBoard,
    .timeLimit(.minutes(40)))
struct VirtualBoardTests {
    /// These boards are gone before they have begun, and wait for no other's end.
    private let line = DispatchQueue(label: "short boards")

    @Test("the virtual board ends, and its emulator with it, when the test that wanted it is canceled")
    func cancelled() async throws {
        let mark = "board-\(UUID().uuidString)"
        let booting = Task { [line] in
            try await VirtualBoard.boot(
                ["--controllers", "0", "--timeout", "500", "--", "sh", "-c", "sleep 400", mark], in: line)
        }
        let board = try await Acceptance.within(300, "the board") {
            try await process { arguments(of: $0).contains(mark) }
        }
        let emulator = try await emulator(of: board)
        booting.cancel()
        #expect(try await booting.value.status == 128 + SIGTERM)
        for process in [board, emulator] { #expect(kill(process, 0) != 0, "\(process) is left") }
    }

    @Test("the virtual board is not started by a test that was canceled before")
    func neverBegun() async {
        await #expect(throws: CancellationError.self) {
            try await Task { [line] in
                withUnsafeCurrentTask { $0?.cancel() }
                return try await VirtualBoard.boot(["--timeout", "1", "--", "true"], in: line)
            }.value
        }
    }

    @Test("the virtual board ends on SIGTERM even if its parent blocks that signal")
    func blocked() async throws {
        let launcher = """
            import os, signal, sys
            signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
            os.execv(sys.argv[1], sys.argv[1:])
            """
        let board = try RunningProgram(
            URL(filePath: "/usr/bin/python3"),
            [
                "-c", launcher, VirtualBoard.command.path, "--controllers", "0", "--timeout", "500", "--", "sh", "-c",
                "sleep 400",
            ])
        let emulator = try await emulator(of: board.processIdentifier)
        #expect(try await board.stop() == 128 + SIGTERM)
        #expect(kill(emulator, 0) != 0, "\(emulator) is left")
    }

    @Test(
        "the virtual board inherits nothing from an agent installed, or run before, on this machine",
        .enabled(if: getuid() == 0, "mounts as root"))
    func inheritsNothing() async throws {
        // A machine like that, in a mount namespace of its own.
        let machine = """
            mount --make-rprivate /
            mount -t tmpfs lib /var/lib
            mount -t tmpfs share /usr/share/doc
            mkdir -m 700 /var/lib/latchkey /usr/share/doc/latchkey
            echo theirs | tee /var/lib/latchkey/lock > /usr/share/doc/latchkey/README.md
            ls /var/lib/latchkey
            exec "$0" --controllers 0 --lines '' --no-sensors --timeout 300 -- ls -d /var/lib/latchkey /usr/share/doc/latchkey
            """
        let board = try RunningProgram(
            URL(filePath: "/usr/bin/unshare"), ["--mount", "sh", "-ec", machine, VirtualBoard.command.path])
        let status = try await board.ended(within: 400)
        #expect(board.output.lines == ["lock"], "\(board.errors.text)")
        #expect(status == 2)
    }

    private func emulator(of board: pid_t) async throws -> pid_t {
        try await Acceptance.within(300, "the emulator") {
            try await process { process in
                let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
                return status.contains("\nPPid:\t\(board)\n") && arguments(of: process)[0].contains("qemu-system")
            }
        }
    }
}

/// The first process like this, as soon as there is one. Nothing tells of the processes of others; the suite's time
/// limit ends the wait.
private func process(_ isWanted: (pid_t) -> Bool) async throws -> pid_t {
    while true {
        let all = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }
        if let found = all.first(where: isWanted) { return found }
        try await Task.sleep(for: .milliseconds(100))
    }
}

private func arguments(of process: pid_t) -> [String] {
    let bytes = (try? Data(contentsOf: URL(filePath: "/proc/\(process)/cmdline"))) ?? Data()
    return String(decoding: bytes, as: UTF8.self).split(separator: "\0", omittingEmptySubsequences: false).map(
        String.init)
}
