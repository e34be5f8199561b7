import Foundation
import TestSupport
import Testing

/// The `killPoint`s of `latchkey config set`.
@Suite("Killed while a setting is written", .timeLimit(.minutes(5)))
struct SettingsStateTests {
    static let states: [(point: String, port: String)] = [("settings-drafted", "1"), ("settings-renamed", "2")]

    @Test(
        "a kill while a setting is written leaves the former file or the new one, and the agent starts",
        arguments: states)
    func killed(_ state: (point: String, port: String)) async throws {
        let board = try TestBoard()
        let program = Program(name: "latchkey")
        let file = ["LATCHKEY_CONFIG": board.configuration.path]
        func config(_ words: String..., killedAt point: String? = nil) async throws -> Program.Result {
            let order = point.map { ["LATCHKEY_KILL_AT": $0] } ?? [:]
            return try await program.run(["config"] + words, environment: file.merging(order) { $1 })
        }
        #expect(try await config("set", "broker.port", "1").status == 0)
        let set = try await config("set", "broker.port", "2", killedAt: state.point)
        #expect(set.status != 0 && set.errors.contains("killed at \(state.point)"), "\(set.errors)")
        #expect(try await config("get", "broker.port").output == "\(state.port)\n")
        try await board.start()
        #expect(try await config("set", "broker.port", "3").status == 0)
        #expect(try await config("get", "broker.port").output == "3\n")
        let folder = board.folder.appending(path: "latchkey.d").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["50-local.toml"])
        try await board.tearDown()
    }
}
