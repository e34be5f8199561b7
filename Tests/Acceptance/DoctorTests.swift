import Foundation
import TestSupport
import Testing

@Suite("The doctor without a daemon", .timeLimit(.minutes(8)))
struct DoctorWithoutDaemonTests {
    private func examine(
        _ board: TestBoard, settings: String? = nil, as user: [String] = []
    ) async throws -> (status: Int32, checks: [String: [String: Any]]) {
        if let settings { try settings.write(to: board.configuration, atomically: true, encoding: .utf8) }
        let command = user + [Program(name: "latchkey").url.path, "doctor", "--json", "--socket", board.socket]
        let result = try await Program(url: URL(filePath: command[0])).run(
            Array(command.dropFirst()), environment: ["LATCHKEY_CONFIG": board.configuration.path])
        let checks = try result.json["checks"] as? [[String: Any]] ?? []
        return (result.status, Dictionary(uniqueKeysWithValues: checks.map { ($0["name"] as? String ?? "", $0) }))
    }

    @Test("the doctor without a daemon reports every fault of the settings, and what the machine lacks for them")
    func settings() async throws {
        let board = try TestBoard(settings: "[broker]\nport = 99999\n")
        var found = try await examine(board)
        #expect(found.status == 69)
        #expect(found.checks["daemon"]?["verdict"] as? String == "fail")
        #expect(
            (found.checks["daemon"]?["message"] as? String)?.contains("nothing is listening on \(board.socket)") == true
        )
        #expect(found.checks["settings"]?["verdict"] as? String == "fail")
        #expect((found.checks["settings"]?["message"] as? String)?.contains("broker.port") == true)

        found = try await examine(board, settings: "[api]\noperate = [\"nobody-of-this-name\"]\n")
        #expect(
            (found.checks["settings"]?["message"] as? String)?.contains("nobody-of-this-name does not exist") == true)
        #expect((found.checks["settings"]?["remedy"] as? String)?.contains("latchkey config check") == true)
        try await board.tearDown()
    }

    @Test("the doctor without a daemon examines what it would start with, and changes nothing")
    func examination() async throws {
        let board = try TestBoard(settings: "[broker]\nhost = \"127.0.0.1\"\n")
        try await board.start()
        // Killed, it leaves its socket, and the log of its store.
        try await board.stop(SIGKILL)
        let files = try contents(of: board.state)
        var found = try await examine(board)
        #expect(found.status == 69)
        for name in ["libraries", "settings", "state-directory", "storage", "clock", "vault", "board", "dns"] {
            #expect(found.checks[name]?["verdict"] as? String == "pass", "\(name): \(found.checks)")
        }
        #expect((found.checks["daemon"]?["message"] as? String)?.contains("left by an agent that was killed") == true)
        #expect((found.checks["vault"]?["message"] as? String)?.contains("development-file") == true)
        #expect(try contents(of: board.state) == files)

        let store = board.state.appending(path: "vault.db")
        try Data(repeating: 0x5A, count: 20_000).write(to: store)
        #expect(chmod(store.path, 0o600) == 0)
        found = try await examine(board)
        #expect(found.checks["vault"]?["verdict"] as? String == "fail")
        #expect((found.checks["vault"]?["message"] as? String)?.contains(store.path) == true, "\(found.checks)")
        let shown = try await board.latchkey("doctor")
        #expect(shown.status == 69 && shown.output.hasPrefix("The agent does not answer."), "\(shown.output)")
        try await board.tearDown()
    }

    private func contents(of folder: URL) throws -> [String: Data] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).reduce(into: [:]) { files, name in
            files[name] = try Data(contentsOf: folder.appending(path: name))
        }
    }

    @Test("the doctor without a daemon finds the agent that holds the lock and listens on another socket")
    func lock() async throws {
        let board = try TestBoard()
        try await board.start()
        let moved = try String(contentsOf: board.configuration, encoding: .utf8).replacing(
            board.socket, with: board.socket + "2")
        let process = try #require(board.daemon?.processIdentifier)
        let elsewhere = try TestBoard()
        let found = try await examine(elsewhere, settings: moved)
        #expect(found.status == 69)
        #expect(
            (found.checks["daemon"]?["message"] as? String)?.contains("process \(process) is an agent") == true,
            "\(found)")
        try await board.tearDown()
        try await elsewhere.tearDown()
    }

    @Test(
        "the doctor without a daemon tells a user without access to the socket what to do",
        .enabled(if: getuid() == 0, "takes a second user"))
    func socket() async throws {
        let board = try TestBoard(settings: "")
        try await board.start()
        let found = try await examine(
            board, as: ["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
        #expect(found.status == 77)
        #expect(
            (found.checks["daemon"]?["message"] as? String)?.contains("user nobody may not connect to \(board.socket)")
                == true)
        #expect((found.checks["daemon"]?["remedy"] as? String)?.contains("usermod -aG latchkey NAME") == true)
        try await board.tearDown()
    }
}
