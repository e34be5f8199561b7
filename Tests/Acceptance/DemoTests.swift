import Foundation
import TestSupport
import Testing

@Suite("deploy/demo", .timeLimit(.minutes(15)))
struct DemoTests {
    /// How the demo comes to its end.
    enum End: String, CaseIterable, Sendable {
        case finished = "--once, to its end"
        case failed = "a command of it fails"
        case terminatedEarly = "SIGTERM, before the agent is enrolled"
        case terminated = "SIGTERM, live"
        case interrupted = "SIGINT, live"

        var isLive: Bool { self != .finished && self != .failed }
        var signal: Int32? { isLive ? (self == .interrupted ? SIGINT : SIGTERM) : nil }
        var status: Int32 {
            switch self {
            case .finished: 0
            case .failed: 1
            case .terminatedEarly, .terminated: 128 + SIGTERM
            case .interrupted: 128 + SIGINT
            }
        }
    }

    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../deploy/demo").standardizedFileURL

    @Test("deploy/demo leaves no process and no file behind, however it ends", arguments: End.allCases)
    func leavesNothing(_ end: End) async throws {
        let folder = URL(filePath: "/tmp/lk-demo-\(UInt32.random(in: .min ... .max))")
        let (programs, temporary) = (folder.appending(path: "programs"), folder.appending(path: "tmp"))
        for made in [programs, temporary] {
            try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(at: folder) }
        try link(programs, failing: end == .failed)

        let mark = UUID().uuidString
        let demo = try RunningProgram(
            Self.script, (end.isLive ? [] : ["--once"]) + ["--programs", programs.path],
            environment: ["LATCHKEY_DEMO": mark, "TMPDIR": temporary.path])
        if let signal = end.signal {
            let sign =
                end == .terminatedEarly
                ? "An agent, on this machine's own sensors" : "Readings and events, as they come"
            _ = try await demo.output.line(containing: sign)
            kill(demo.processIdentifier, signal)
        }
        #expect(
            try await demo.ended() == end.status,
            "\(demo.output.text.suffix(500)) \(demo.errors.text.suffix(1000))")
        // On a busy machine the demo may have come to its end before the early signal.
        if end != .terminatedEarly {
            #expect(demo.output.text.contains("It works.") == [.finished, .terminated, .interrupted].contains(end))
        }
        #expect(processes(with: mark) == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [])
    }

    /// Makes a folder with the programs of this build, `latchkey enroll` of which may fail.
    private func link(_ folder: URL, failing: Bool) throws {
        for name in ["latchkey", "latchkey-lab", "liblatchkey-lab-broker.so"] {
            try FileManager.default.createSymbolicLink(
                at: folder.appending(path: name), withDestinationURL: Program.folder.appending(path: name))
        }
        guard failing else { return }
        let program = folder.appending(path: "latchkey")
        try FileManager.default.removeItem(at: program)
        try """
        #!/bin/sh
        [ "$1" != enroll ] || exit 1
        exec '\(Program.folder.appending(path: "latchkey").path)' "$@"
        """.write(to: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path)
    }

    /// The command lines of those that have inherited this from the demo's environment.
    private func processes(with mark: String) -> [String] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.filter { Int32($0) != nil } ?? []
        return numbers.compactMap { number in
            guard let environment = try? Data(contentsOf: URL(filePath: "/proc/\(number)/environ")),
                environment.range(of: Data("LATCHKEY_DEMO=\(mark)".utf8)) != nil
            else { return nil }
            let command = (try? Data(contentsOf: URL(filePath: "/proc/\(number)/cmdline"))) ?? Data()
            return String(decoding: command, as: UTF8.self).replacing("\0", with: " ")
        }
    }
}
