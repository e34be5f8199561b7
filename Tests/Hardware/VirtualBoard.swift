import Foundation
import GatewayLab
import Groundwork
import TestSupport

/// The virtual board of `Tests/VirtualBoard`, on which a script works the simulated hardware.
enum VirtualBoard {
    private static let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../..").standardizedFileURL
    static let command = project.appendingPathComponent("Tests/VirtualBoard/virtual-board")

    /// One board at a time, which is meant to have a processor of this machine for itself.
    static let boards = DispatchQueue(label: "virtual board")

    /// Why no board can be had here, in its own words; `nil` when one can.
    static let missing: String? = {
        do {
            let prepared = try run(command, ["--prepare"], environment: [:])
            return prepared.status == 0 ? nil : prepared.errors.trimmingCharacters(in: .whitespacesAndNewlines)
        } catch {
            return "\(command.path) cannot be run: \(error)"
        }
    }()

    /// The phone of `Phone`, as variables of a script; fetches its Bluetooth stack when it is not there.
    static func phone() throws -> [String: String] {
        let folder = project.appendingPathComponent("Tests/Hardware/Phone")
        let prepared = try run(folder.appendingPathComponent("prepare"), [], environment: [:])
        guard prepared.status == 0 else {
            throw BoardEnded(status: prepared.status, output: prepared.output, errors: prepared.errors)
        }
        return ["PHONE": folder.path, "PYTHONPATH": prepared.output.trimmingCharacters(in: .whitespacesAndNewlines)]
    }

    /// A lab's keys, as files of its data directory: the emulated processor takes seconds to make each of them.
    private static let labKeys = Run {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lab-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = LabConfiguration()
        configuration.broker = false
        configuration.dataDirectory = folder.path
        try await Lab.start(configuration).stop()
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "key" || $0.lastPathComponent == "ca.pem" }
            .map { ($0.lastPathComponent, try Data(contentsOf: $0)) }
    }

    /// What a script left: its log as JSON values, in order.
    struct Log: Sendable {
        let lines: [JSON]

        /// What was logged during one step of the script.
        func during(_ step: String) -> [JSON] {
            let after = lines.drop { !($0["event"]?.string == "step" && $0["name"]?.string == step) }.dropFirst()
            return Array(after.prefix { $0["event"]?.string != "step" })
        }
    }

    /// Runs a script of `Scripts` on a board that this boots, after those asked for before. Where the board does not
    /// come up, or what the script needs of others does not hold (`given` in `steps.sh`), it is booted anew, three
    /// times in all.
    ///
    /// - Parameters:
    ///   - definition: a file of `Boards`, without `.toml`, changed by `edit`; where that leaves no sensors, the board
    ///     has none.
    ///   - controllers: of Bluetooth.
    ///   - processors: 2 where several programs of the script have to keep up with each other.
    ///   - systemd: whether the board is started by systemd, and the script as a service.
    ///   - variables: more of the script's environment.
    /// - Throws: ``NotRun`` if nothing of Latchkey could be tested, ``BoardEnded`` if the script ended early
    static func log(
        of script: String, definition: String, controllers: Int = 0, processors: Int = 1, systemd: Bool = false,
        environment variables: [String: String] = [:], edit: (String) -> String = { $0 }
    ) async throws -> Log {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hardware-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("\(definition).toml")
        let original = project.appendingPathComponent("Boards/\(definition).toml")
        let parts = try edit(String(contentsOf: original, encoding: .utf8))
        try parts.write(to: file, atomically: true, encoding: .utf8)
        let lab = folder.appendingPathComponent("lab")
        try FileManager.default.createDirectory(at: lab, withIntermediateDirectories: false)
        for (name, key) in try await labKeys.value { try key.write(to: lab.appendingPathComponent(name)) }

        // An optimized program takes a quarter of the time there.
        let shipped = ProcessInfo.processInfo.environment["LATCHKEY_RELEASE_BUILD"]
        var environment = [
            "PROGRAMS": programs.path, "LATCHKEY": shipped ?? programs.appendingPathComponent("latchkey").path,
            "DEFINITION": file.path, "LAB_KEYS": lab.path,
        ]
        environment.merge(variables) { _, own in own }
        var arguments = ["--controllers", "\(controllers)", "--cpus", "\(processors)", "--timeout", "1200"]
        if systemd { arguments.append("--systemd") }
        if !parts.contains("[[sensor]]") { arguments.append("--no-sensors") }
        for name in environment.keys { arguments += ["--env", name] }
        // Debian's tools take a tenth of a second each to start there; this shell has its own.
        arguments += ["--", "busybox", "sh"]
        arguments.append(project.appendingPathComponent("Tests/Hardware/Scripts/\(script).sh").path)
        var ended = try await boot(arguments, environment: environment)
        for _ in 2...3 where NotRun(ended) != nil { ended = try await boot(arguments, environment: environment) }
        if let reason = NotRun(ended) { throw reason }
        guard ended.status == 0 else {
            throw BoardEnded(status: ended.status, output: ended.output, errors: ended.errors)
        }
        let lines = try ended.output.split(separator: "\n").map { line in
            guard let read = try? JSON(parsing: line.utf8), read["event"]?.string != "not-understood" else {
                throw Unexpected("a line of the script's log is not understood: \(line)")
            }
            return read
        }
        return Log(lines: lines)
    }

    /// Runs the command of the virtual board. A cancelled task ends it, and does not begin with it.
    ///
    /// - Parameter line: where it waits for its turn.
    /// - Returns: once nothing of it is left.
    static func boot(
        _ arguments: [String], environment: [String: String] = [:], in line: DispatchQueue = boards
    ) async throws -> Ended {
        let board = EndableProcess()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // It blocks for as long as the board runs.
                line.async {
                    continuation.resume(
                        with: Result { try run(command, arguments, environment: environment, as: board) })
                }
            }
        } onCancel: {
            board.end()
        }
    }

    /// A board that the tests of a suite share. One of them that is cancelled, as its time is over, ends it.
    struct Run<Value: Sendable>: Sendable {
        private let task: Task<Value, any Error>

        init(_ body: @escaping @Sendable () async throws -> Value) { task = Task { try await body() } }

        var value: Value {
            get async throws {
                try await withTaskCancellationHandler {
                    try await task.value
                } onCancel: {
                    task.cancel()
                }
            }
        }
    }

    /// The emulated processor may pause in the middle of a bounce: a debounce time longer than such a pause.
    static func debouncing(_ definition: String, milliseconds: Int) -> String {
        definition.replacingOccurrences(of: "debounce-ms = 20", with: "debounce-ms = \(milliseconds)")
    }

    /// The lines alone, where nobody asks what the sensors measure.
    static func withoutSensors(_ definition: String) -> String {
        definition.range(of: "[[sensor]]").map { String(definition[..<$0.lowerBound]) } ?? definition
    }

    struct BoardEnded: Error, CustomStringConvertible {
        let status: Int32
        let output: String
        let errors: String

        /// On one line, so that a search for failures finds all of it.
        var description: String {
            let lines = output.split(separator: "\n")
            let said = (lines.suffix(12) + errors.suffix(1500).split(separator: "\n")).joined(separator: " ⏎ ")
            let step = lines.last { $0.contains(#""event":"step""#) } ?? "no step"
            let missed = lines.filter { $0.contains(#""event":"missed""#) }.joined(separator: " ")
            return "the board ended with \(status) in \(step), missed \(missed); last: \(said)"
        }
    }

    /// The programs of this build lie beside the one that runs the tests.
    static var programs: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    typealias Ended = (status: Int32, output: String, errors: String)

    private static func run(
        _ program: URL, _ arguments: [String], environment: [String: String],
        as process: EndableProcess = EndableProcess()
    ) throws -> Ended {
        let variables = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }.map {
            "\($0.key)=\($0.value)"
        }
        let (output, errors) = (try PrivatePipe(), try PrivatePipe())
        try process.start {
            try ChildProcess.spawn(
                [program.path] + arguments, variables: variables,
                streams: [
                    FileHandle.nullDevice.fileDescriptor, output.writing.fileDescriptor,
                    errors.writing.fileDescriptor,
                ])
        }
        for pipe in [output, errors] { try pipe.writing.close() }
        // Errors are few and fit into the pipe; output may be long.
        let text = output.reading.readDataToEndOfFile()
        let words = errors.reading.readDataToEndOfFile()
        return (process.waitForExit(), String(decoding: text, as: UTF8.self), String(decoding: words, as: UTF8.self))
    }
}
