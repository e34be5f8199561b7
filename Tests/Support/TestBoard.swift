@_spi(KeyBytes) import Cryptography
import Foundation
import GatewayLab

/// A board as its owner has it: a state directory, a configuration and a running daemon, asked over the command.
package final class TestBoard {
    package let folder: URL
    package private(set) var daemon: RunningProgram?
    /// More variables of the daemon's environment.
    package var environment: [String: String] = [:]
    /// A command that starts the daemon, by its path, where it does not start by itself.
    package var launcher: [String] = []
    /// The daemon's. The commands that ask it are those of the shipped program where there is one, which are quicker.
    private let program: Program
    /// The daemon's first RSA key; another board may have it when this one is gone.
    private let keys = RSAKeys()

    private static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    package var socket: String { folder.appending(path: "api.sock").path }
    package var configuration: URL { folder.appending(path: "latchkey.toml") }
    package var state: URL { folder.appending(path: "state") }

    /// - Parameters:
    ///   - program: the daemon's; that of this build has the kill points, and writes down its answers for
    ///     `deploy/check-answers`.
    ///   - settings: more TOML, after the sections that every board needs.
    ///   - definition: of the board; the simulated one reads its sensors every few seconds.
    package init(program: Program = Program(name: "latchkey"), definition: String = "simulated", settings: String = "")
        throws
    {
        self.program = program
        // Short, as the path of a socket has at most 107 bytes.
        folder = URL(filePath: "/tmp/lk-\(UInt32.random(in: .min ... .max))")
        try FileManager.default.createDirectory(
            at: state, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        if program.url == Program(name: "latchkey").url { try giveKey() }
        try """
        [agent]
        state_directory = "\(state.path)"
        log_level = "trace"
        [vault]
        slot = "development-key-file"
        [api]
        socket = "\(socket)"
        [board]
        definition = "\(definition)"
        directories = ["\(Self.repository.appending(path: "Boards").path)"]
        \(settings)
        """.write(to: configuration, atomically: true, encoding: .utf8)
    }

    /// Writes a file of settings that are read after those of ``configuration``.
    ///
    /// - Parameter name: such as `10-image.toml`.
    @discardableResult
    package func dropIn(_ name: String, _ settings: String) throws -> URL {
        let directory = folder.appending(path: "latchkey.d")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let file = directory.appending(path: name)
        try settings.write(to: file, atomically: true, encoding: .utf8)
        return file
    }

    private var givenKey: URL { folder.appending(path: "given.key") }

    /// Spares the daemon its first RSA key; it makes all others itself.
    private func giveKey() throws {
        let key = Data(try keys.take().pkcs8().exposed())
        let isThere = FileManager.default.createFile(
            atPath: givenKey.path, contents: key, attributes: [.posixPermissions: 0o600])
        if !isThere { throw Unexpected("cannot write \(givenKey.path)") }
    }

    /// Starts the daemon and waits until it answers.
    package func start() async throws { _ = try await launch().errors.line(containing: "agent: ready") }

    /// Starts the daemon, and does not wait for it.
    @discardableResult
    package func launch() throws -> RunningProgram {
        let command = launcher + [program.url.path, "run", "--config", configuration.path]
        let daemon = try RunningProgram(
            URL(filePath: command[0]), Array(command.dropFirst()),
            environment: environment.merging(["LATCHKEY_GIVEN_KEY": givenKey.path]) { own, _ in own })
        self.daemon = daemon
        return daemon
    }

    @discardableResult
    package func stop(_ signal: Int32 = SIGTERM) async throws -> Int32 {
        defer { daemon = nil }
        return try await daemon?.stop(signal) ?? 0
    }

    package func tearDown() async throws {
        try await stop(SIGKILL)
        try FileManager.default.removeItem(at: folder)
    }

    @discardableResult
    package func latchkey(_ arguments: String..., input: String? = nil) async throws -> Program.Result {
        try await Program.shipped.run(arguments + ["--socket", socket], input: input)
    }

    /// Runs a subcommand with `--json` that has to succeed.
    @discardableResult
    package func ask(_ arguments: String...) async throws -> [String: Any] {
        let result = try await Program.shipped.run(arguments + ["--json", "--socket", socket])
        guard result.status == 0 else { throw failure(of: arguments, result) }
        return try result.json
    }

    /// In one line, with what the daemon said last: summaries of a run show the first line of a failure.
    private func failure(of arguments: [String], _ result: Program.Result) -> Unexpected {
        let log = daemon?.errors.lines.suffix(8).joined(separator: " | ") ?? "(no daemon)"
        return Unexpected("\(arguments) ended with \(result.status): \(result.errors) — the daemon: \(log)")
    }

    /// An error with the newest lines of the daemon's log, which are there until the board is torn down.
    package func withLastWords(_ error: any Error) -> Unexpected {
        let log = daemon?.errors.lines.suffix(60).joined(separator: "\n") ?? ""
        return Unexpected("\(error)\n--- the daemon's last words:\n\(log)")
    }

    /// A subcommand that goes on until it is stopped.
    package func follow(_ arguments: String...) throws -> RunningProgram {
        try RunningProgram(Program.shipped.url, arguments + ["--json", "--socket", socket])
    }

    /// The status now.
    package func status() async throws -> BoardStatus { try await answer(["status"]) }

    /// What a subcommand prints with `--json`.
    private func answer(_ arguments: [String]) async throws -> BoardStatus {
        let result = try await Program.shipped.run(arguments + ["--json", "--socket", socket])
        guard result.status == 0 else { throw failure(of: arguments, result) }
        return try JSONDecoder().decode(BoardStatus.self, from: Data(result.output.utf8))
    }

    /// Asks for the status until it is as wanted. Between the agent that waits for its vault and the one that has
    /// opened it, nobody answers for a moment.
    @discardableResult
    package func status(within seconds: Double = 180, until isWanted: (BoardStatus) -> Bool) async throws -> BoardStatus
    {
        let end = ContinuousClock.now + .seconds(seconds)
        var last: any Error = Unexpected("never asked")
        repeat {
            do {
                let status = try await status()
                if isWanted(status) { return status }
                last = Unexpected("the status stayed \(status)")
            } catch {
                last = error
            }
            try await Task.sleep(for: .milliseconds(100))
        } while ContinuousClock.now < end
        throw last
    }

    /// Waits until the outbox is empty, for as long as messages are delivered: the limit is for a standstill, however
    /// much waits and however much is still accepted meanwhile.
    package func drained(standstill seconds: Double = 180) async throws -> BoardStatus {
        var (most, end) = (0, ContinuousClock.now + .seconds(seconds))
        while true {
            let status = try await status(within: seconds) { $0.outbox?.depth != nil }
            let depth = status.outbox?.depth ?? .max
            if depth == 0 { return status }
            let delivered = status.outbox?.delivered ?? 0
            if delivered > most { (most, end) = (delivered, ContinuousClock.now + .seconds(seconds)) }
            guard ContinuousClock.now < end else { throw Unexpected("\(depth) messages stay in the outbox: \(status)") }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// The question that waits for consent, as soon as there is one.
    package func question() async throws -> [String: Any] {
        try await waiting { try await self.ask("consent")["consents"] }
    }

    /// The prompt that waits for an answer, as soon as there is one.
    package func prompt() async throws -> [String: Any] {
        try await waiting { try await self.ask("prompts")["prompts"] }
    }

    /// The first of a list, which is asked for again when the daemon's log says that there is something new to ask.
    private func waiting(_ list: () async throws -> Any?) async throws -> [String: Any] {
        guard let log = daemon?.errors else { throw Unexpected("no daemon runs") }
        while true {
            // Before the list is asked for, so that nothing in between is missed.
            let position = log.count
            if let first = (try await list() as? [[String: Any]])?.first { return first }
            _ = try await log.line(containing: "prompt.asked", after: position)
        }
    }

    /// Enrolls and registers with a URL that `lab` mints.
    @discardableResult
    package func enroll(at lab: Lab) async throws -> BoardStatus { try await enroll(try await lab.mintEnrollmentURL()) }

    /// `latchkey enroll` with these arguments, which has to succeed.
    @discardableResult
    package func enroll(_ arguments: String...) async throws -> BoardStatus { try await answer(["enroll"] + arguments) }
}

/// A value deep in a JSON object: `value(code, "data", "text")`.
package func value(_ object: Any?, _ path: String...) -> Any? {
    path.reduce(object) { ($0 as? [String: Any])?[$1] }
}

/// Gives `body` a lab and a started board. Both are gone afterwards.
package func withLabAndBoard(
    _ lab: LabConfiguration = LabConfiguration(), settings: String = "",
    _ body: (Lab, TestBoard) async throws -> Void
) async throws {
    try await withLabAndBoard(lab, board: try TestBoard(settings: settings), body)
}

/// Gives `body` a lab and a started board. Both are gone afterwards.
///
/// - Parameter board: is called once the lab runs; what it changes of the board's settings holds from the start.
package func withLabAndBoard(
    _ lab: LabConfiguration = LabConfiguration(), board makeBoard: @autoclosure () throws -> TestBoard,
    _ body: (Lab, TestBoard) async throws -> Void
) async throws {
    let started = StartedPrograms()
    defer { started.endAll() }
    let lab = try await Lab.start(lab)
    let board = try makeBoard()
    do {
        try await StartedPrograms.$here.withValue(started) {
            try await board.start()
            try await body(lab, board)
        }
    } catch {
        let failure = board.withLastWords(error)
        try? await board.tearDown()
        await lab.stop()
        throw failure
    }
    try await board.tearDown()
    await lab.stop()
}
