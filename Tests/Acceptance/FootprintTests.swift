import Foundation
import GatewayLab
import Groundwork
import TestSupport
import Testing

/// The budget of the daemon, connected and idle. Boards have little memory, and the agent is not what they are for.
@Suite("Footprint of the shipped program", .serialized, .timeLimit(.minutes(15)))
struct FootprintTests {
    /// The release build, which `deploy/test --shipped` makes before the tests.
    static let release = ProcessInfo.processInfo.environment["LATCHKEY_RELEASE_BUILD"]

    @Test(
        "the shipped program's stripped file has at most 32 MB",
        .enabled(if: release != nil, "LATCHKEY_RELEASE_BUILD names no release build"))
    func size() async throws {
        let stripped = FileManager.default.temporaryDirectory.appending(path: "latchkey-stripped-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: stripped) }
        let strip = try RunningProgram(
            URL(filePath: "/usr/bin/strip"), ["-o", stripped.path, try #require(Self.release)])
        #expect(try await strip.ended() == 0)
        let bytes = try #require(stripped.resourceValues(forKeys: [.fileSizeKey]).fileSize)
        print("stripped: \(bytes) bytes")
        #expect(bytes <= 32_000_000)
    }

    @Test(
        "the shipped program looks for no library beside itself, and its bindings are read-only after the start",
        .enabled(if: release != nil, "LATCHKEY_RELEASE_BUILD names no release build"))
    func linked() async throws {
        let readelf = Program(url: URL(filePath: "/usr/bin/readelf"))
        let section = try await readelf.run(["--dynamic", "--wide", try #require(Self.release)])
        #expect(section.status == 0)
        #expect(!section.output.contains("RUNPATH") && !section.output.contains("RPATH"), "\(section.output)")
        #expect(section.output.contains("BIND_NOW"), "\(section.output)")
        let segments = try await readelf.run(["--program-headers", "--wide", try #require(Self.release)])
        #expect(segments.status == 0)
        #expect(segments.output.contains("GNU_RELRO"), "\(segments.output)")
    }

    @Test(
        "the shipped program keeps its limits of memory and threads while connected and idle",
        .enabled(if: release != nil, "LATCHKEY_RELEASE_BUILD names no release build"))
    func idle() async throws {
        let program = Program(url: URL(filePath: try #require(Self.release)))
        // One sensor that is there and is not due again.
        let definition = FileManager.default.temporaryDirectory.appending(
            path: "latchkey-quiet-\(UUID().uuidString).toml")
        defer { try? FileManager.default.removeItem(at: definition) }
        try """
        title = "Quiet board"
        [[sensor]]
        name = "system.uptime"
        source = "system"
        channel = "uptime"
        period-s = 900
        """.write(to: definition, atomically: true, encoding: .utf8)
        try await withLabAndBoard(board: try TestBoard(program: program, definition: definition.path)) { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            let process = try #require(board.daemon?.processIdentifier)
            try await Self.expectBudget(of: process, as: "idle")
        }
    }

    @Test(
        "the shipped program keeps its limits while it samples four values a second",
        .enabled(if: release != nil, "LATCHKEY_RELEASE_BUILD names no release build"))
    func sampling() async throws {
        let program = Program(url: URL(filePath: try #require(Self.release)))
        let definition = FileManager.default.temporaryDirectory.appending(
            path: "latchkey-busy-\(UUID().uuidString).toml")
        defer { try? FileManager.default.removeItem(at: definition) }
        let sensors = ["load", "memory-available", "disk-free", "uptime"].map { channel in
            """
            [[sensor]]
            name = "system.\(channel)"
            source = "system"
            channel = "\(channel)"
            period-s = 1
            greatest-interval-s = 1
            \(channel == "disk-free" ? "path = \"/\"" : "")
            """
        }
        try (["title = \"Busy board\""] + sensors).joined(separator: "\n").write(
            to: definition, atomically: true, encoding: .utf8)
        let settings = "[telemetry]\ntopic = \"readings\""
        try await withLabAndBoard(
            board: try TestBoard(program: program, definition: definition.path, settings: settings)
        ) { lab, board in
            let arrivals = lab.arrivals.subscribe()
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            let process = try #require(board.daemon?.processIdentifier)
            try await Self.readings(30, in: arrivals)
            try await Self.expectBudget(of: process, as: "sampling")
        }
    }

    /// Waits for so many messages that are measured from now on.
    private static func readings(_ wanted: Int, in arrivals: AsyncStream<LabMessage>) async throws {
        let begin = Date().timeIntervalSince1970
        try await Acceptance.within(180, "readings at the broker") {
            var count = 0
            for await message in arrivals where message.topic.hasSuffix("/custom/readings") {
                let reading = try? JSONSerialization.jsonObject(with: Data(message.payload)) as? [String: Any]
                guard (reading?["time"] as? Double ?? 0) / 1000 > begin else { continue }
                count += 1
                if count == wanted { return }
            }
            throw Unexpected("the broker's messages ended")
        }
    }

    /// Memory and threads, as a board's owner sees them.
    private struct Footprint {
        /// In kB, reported and not limited: most of it is clean pages of files, which the kernel can take back.
        let resident: Int
        /// The same with each page divided by how many processes have it. On a machine where no other process uses the
        /// same libraries it is nearly all that is resident.
        let proportional: Int
        let anonymous: Int
        let threads: Int
        /// That of the agent with every system that it is meant for.
        var isWithinBudget: Bool { anonymous <= 6000 && threads <= 8 }

        init(of process: Int32) throws {
            let status = try fields("/proc/\(process)/status")
            (resident, threads) = (try #require(status["VmRSS"]), try #require(status["Threads"]))
            let rollup = try fields("/proc/\(process)/smaps_rollup")
            (anonymous, proportional) = (try #require(rollup["Anonymous"]), try #require(rollup["Pss"]))
        }
    }

    private static func expectBudget(of process: Int32, as state: String) async throws {
        var found = try Footprint(of: process)
        // Nothing tells when the daemon has let go of what only its start and its connection needed.
        let end = ContinuousClock.now + .seconds(60)
        while !found.isWithinBudget, .now < end {
            try await Task.sleep(for: .milliseconds(200))
            found = try Footprint(of: process)
        }
        print("\(state): \(found)")
        #expect(found.isWithinBudget)
    }

    /// The lines `Name: number` of a file of `/proc`.
    private static func fields(_ path: String) throws -> [String: Int] {
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        return lines.reduce(into: [:]) { fields, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let number = parts[1].split(whereSeparator: \.isWhitespace).first else { return }
            fields[String(parts[0])] = Int(number)
        }
    }
}
