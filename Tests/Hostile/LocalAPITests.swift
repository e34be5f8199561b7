import Foundation
import GatewayLab
import TestSupport
import Testing

/// `attack.py` against the daemon as it is shipped, with a gateway and a broker behind it.
@Suite(
    "The local API of a running daemon", .serialized, .timeLimit(.minutes(15)),
    .enabled(if: getuid() == 0, "attacks as other users"))
struct LocalAPITests {
    /// The attacker may do everything, so that each attack reaches as deep as it can. Both users are Debian's own.
    private static let access = """
        group = "nogroup"
        read = ["games"]
        publish = ["games"]
        operate = ["games"]
        """

    /// How an attack went: what the script says in the end.
    func attack(_ board: TestBoard, _ kind: String, as user: String = "games") async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "attack.py")
        let socket = board.socket
        let attacker = try RunningProgram(URL(filePath: "/usr/bin/python3"), ["-B", script.path, socket, kind, user])
        let watcher = Task {
            // Another user is served all the while.
            var worst = Duration.zero
            while !Task.isCancelled {
                let start = ContinuousClock.now
                let answer = try await Program(name: "latchkey").run(["status", "--json", "--socket", socket])
                // A command that was interrupted says nothing.
                guard !Task.isCancelled else { break }
                #expect(answer.status == 0, "not served during \(kind): \(answer.errors)")
                worst = max(worst, ContinuousClock.now - start)
                try? await Task.sleep(for: .milliseconds(100))
            }
            return worst
        }
        let status = try await attacker.ended(within: 400)
        watcher.cancel()
        let worst = try await watcher.value
        let figures = attacker.output.text.suffix(400).trimmingCharacters(in: .whitespacesAndNewlines)
        print("\(figures); another user waited \(Int(worst / .milliseconds(1))) ms at most")
        #expect(status == 0, "\(kind): \(attacker.output.text)\(attacker.errors.text)")
    }

    struct Weight {
        let anonymousKilobytes: Int
        let descriptors: Int

        init(of process: pid_t) throws {
            let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") } ?? ""
            anonymousKilobytes = line.split(separator: " ").compactMap { Int($0) }.first ?? 0
            descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count
        }
    }

    /// A board that its attackers can reach.
    func reachableBoard() throws -> TestBoard {
        let prepared = try TestBoard()
        let settings = try String(contentsOf: prepared.configuration, encoding: .utf8)
            .replacingOccurrences(of: "[api]\n", with: "[api]\n\(Self.access)\n")
            // Thousands of refusals are thousands of lines.
            .replacingOccurrences(of: "\"trace\"", with: "\"notice\"")
        try settings.write(to: prepared.configuration, atomically: true, encoding: .utf8)
        // Others have to reach the socket in it.
        chmod(prepared.folder.path, 0o755)
        return prepared
    }

    @Test("the local API answers hostile programs with 4xx, serves others meanwhile, and needs no more memory")
    func attacks() async throws {
        try await withLabAndBoard(board: try reachableBoard()) { lab, board in
            _ = try await board.enroll(at: lab)
            _ = try await board.status { $0.isConnected }
            let process = try #require(board.daemon?.processIdentifier)
            try await attack(board, "peers", as: "nobody")
            try await attack(board, "outsider", as: "www-data")
            for kind in ["paths", "heads", "smuggling", "slow", "flood"] { try await attack(board, kind) }
            // The first rounds fill caches and arenas, and the later ones add nothing.
            for _ in 0..<3 { try await attack(board, "bodies") }
            let before = try Weight(of: process)
            try await attack(board, "bodies")
            try await attack(board, "flood")
            // Connections that are closed leave the daemon a moment later.
            var after = try Weight(of: process)
            let end = ContinuousClock.now + .seconds(120)
            while after.descriptors > before.descriptors, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(200))
                after = try Weight(of: process)
            }
            print("before: \(before), after: \(after)")
            #expect(after.descriptors <= before.descriptors)
            if !Program.isSanitized { #expect(after.anonymousKilobytes < before.anonymousKilobytes + 4096) }
            let status = try await board.status()
            #expect(status.isConnected)
            #expect(board.daemon?.processIdentifier == process && kill(process, 0) == 0)
        }
    }
}
