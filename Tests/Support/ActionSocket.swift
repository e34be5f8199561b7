import Foundation

/// The socket of actions as systemd has it on a board (`Accept=yes`): the runner is started for each connection, which
/// is its standard input.
package struct ActionSocket {
    package let folder: URL
    package var path: String { folder.appending(path: "actions.sock").path }

    package init() throws {
        folder = URL(filePath: "/tmp/lk-act-\(UInt32.random(in: .min ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    package func remove() { try? FileManager.default.removeItem(at: folder) }

    /// Listens from when this returns, until the program is stopped.
    ///
    /// - Parameter command: the subcommand that systemd would start for each connection.
    package func listen(
        settings: URL, command: [String] = ["actions", "serve"]
    ) async throws -> RunningProgram {
        let listener = try RunningProgram(
            URL(filePath: "/usr/bin/python3"),
            [
                "-c",
                """
                import os, signal, socket, subprocess, sys
                path, program, settings, *command = sys.argv[1:]
                signal.signal(signal.SIGCHLD, signal.SIG_IGN)
                if os.path.exists(path): os.unlink(path)
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(path)
                listener.listen()
                print("listening", flush=True)
                while True:
                    connection, _ = listener.accept()
                    subprocess.Popen([program, *command, "--config", settings], stdin=connection)
                    connection.close()
                """, path, Program(name: "latchkey").url.path, settings.path,
            ] + command)
        _ = try await listener.output.line(containing: "listening")
        return listener
    }

    /// Writes a program that actions may start.
    ///
    /// - Returns: its path.
    package func write(_ script: String, named name: String = "command") throws -> String {
        let file = folder.appending(path: name)
        try script.write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        return file.path
    }
}
