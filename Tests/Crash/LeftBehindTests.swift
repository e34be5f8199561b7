import Foundation
import GatewayLab
import TestSupport
import Testing

/// What stays of a run of tests: nothing, whatever ends it.
@Suite("A run of tests", .serialized)
struct LeftBehindTests {
    private static let baiting = "LATCHKEY_BAIT"
    private static let reaper = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../../deploy/reaper"
    )
    .standardizedFileURL

    @Test(
        "a run of tests that is ended leaves no process behind: lab, broker, agent, reader and disk",
        .enabled(if: PowerCutDisk.obstacle == nil, PowerCutDisk.obstacle ?? "possible"),
        arguments: [SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGABRT])
    func tests(ended signal: Int32) async throws {
        let bundle = URL(filePath: try #require(CommandLine.arguments.first { $0.hasSuffix(".xctest") }))
        let words = ["--testing-library", "swift-testing", "--filter", "^CrashTests.LeftBehindTests/bait"]
        let run = try RunningProgram(bundle, words, environment: [Self.baiting: "yes", "SWIFT_BACKTRACE": "enable=no"])
        _ = try await run.output.line(containing: "bait is out")
        let left = Processes.below(run.processIdentifier)
        for name in ["latchkey", "mosquitto", "mosquitto_sub", "powercut.py", "reaper"] {
            #expect(left.values.contains { $0.contains(name) }, "\(left)")
        }
        run.signal(signal)
        #expect(try await run.ended() == 128 + signal)
        try await Processes.ended(left)
    }

    /// Everything that these tests start, until the process is ended from outside.
    @Test(
        "bait for the test of what a run leaves: starts everything until it is ended from outside",
        .enabled(if: ProcessInfo.processInfo.environment[baiting] != nil, "only in a process of its own"))
    func bait() async throws {
        try await withDisk { lab, board, disk in
            try await board.start()
            _ = try await board.enroll(at: lab)
            let reader = try await SecondClient(named: "phone", user: "alice", at: lab, in: board.folder)
            let arrivals = try await reader.subscribe(to: "/2.0/client/users/alice/custom/#")
            FileHandle.standardOutput.write(Data("the bait is out\n".utf8))
            _ = try await arrivals.ended(within: 86_400)
        }
    }

    /// A command that starts two processes that would stay, one of them in a session of its own.
    private static let scattering = "setsid sleep 86400 & sleep 86400 & echo out; "

    @Test(
        "the reaper ends what a command left, names it, and with --strict calls that a failure",
        arguments: [true, false])
    func reaped(strict: Bool) async throws {
        let words = (strict ? ["--strict"] : []) + ["--", "sh", "-c"]
        let left = try await Program(url: Self.reaper).run(words + [Self.scattering + "exit 0"])
        #expect(left.status == (strict ? 1 : 0), "\(left.errors)")
        let named = left.errors.split(separator: "\n").count {
            $0.contains("left behind: ") && $0.contains("sleep 86400")
        }
        #expect(named == 2, "\(left.errors)")
        let clean = try await Program(url: Self.reaper).run(words + ["exit 7"])
        #expect(clean.status == 7)
        #expect(clean.errors.isEmpty)
    }

    @Test(
        "the reaper leaves nothing when a signal ends it, its command, or both at once",
        arguments: [SIGKILL, SIGTERM, SIGHUP])
    func reaperEnded(signal: Int32) async throws {
        for target in ["reaper", "command", "both"] {
            let run = try RunningProgram(Self.reaper, ["--", "sh", "-c", Self.scattering + "wait"])
            _ = try await run.output.line(containing: "out")
            let left = Processes.below(run.processIdentifier)
            #expect(left.values.count { $0.contains("sleep 86400") } >= 2, "\(left)")
            let command = try #require(left.first { $0.value.hasPrefix("sh ") }?.key.number)
            // The command first: the reaper would end it by itself.
            if target != "reaper" { kill(command, signal) }
            if target != "command" { run.signal(signal) }
            _ = try await run.ended()
            try await Processes.ended(left)
        }
    }
}

/// The kernel's list of processes.
enum Processes {
    /// A number is used again; with the moment of the start it is not.
    struct Identity: Hashable {
        let number: pid_t
        let start: String
    }

    /// All that this one has started, and these in turn, with their command lines.
    static func below(_ root: pid_t) -> [Identity: String] {
        var found: [Identity: String] = [:]
        var parents: Set<pid_t> = [root]
        while true {
            let more = all().filter { parents.contains($0.parent) && found[$0.identity] == nil }
            if more.isEmpty { return found }
            for one in more {
                found[one.identity] = one.command
                parents.insert(one.identity.number)
            }
        }
    }

    /// Waits until none of these is there. Nothing tells when a process ends that is not a child.
    static func ended(_ processes: [Identity: String], within seconds: Double = 120) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while case let left = all().filter({ processes[$0.identity] != nil }), !left.isEmpty {
            guard ContinuousClock.now < end else { throw Unexpected("left behind: \(left.map(\.command))") }
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// All there are but those that have ended and only wait for their parent's question.
    private static func all() -> [(identity: Identity, parent: pid_t, command: String)] {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { pid_t($0) } ?? []
        return numbers.compactMap { number in
            // The name, in parentheses, may hold anything; after it come state, parent, and the start as the 20th.
            guard let stat = FileManager.default.contents(atPath: "/proc/\(number)/stat"),
                let fields = String(decoding: stat, as: UTF8.self).split(separator: ")").last?.split(separator: " "),
                fields.count > 19, fields[0] != "Z", let parent = pid_t(fields[1])
            else { return nil }
            let command = FileManager.default.contents(atPath: "/proc/\(number)/cmdline") ?? Data()
            let words = String(decoding: command, as: UTF8.self).replacingOccurrences(of: "\0", with: " ")
            return (Identity(number: number, start: String(fields[19])), parent, words)
        }
    }
}
