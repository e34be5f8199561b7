import Foundation
import TestSupport
import Testing

@Suite("latchkey config", .timeLimit(.minutes(8)))
struct ConfigCommandTests {
    private func config(_ board: TestBoard, _ arguments: String...) async throws -> Program.Result {
        try await Program(name: "latchkey").run(
            ["config"] + arguments, environment: ["LATCHKEY_CONFIG": board.configuration.path])
    }

    private func dropIns(_ board: TestBoard) -> URL { board.folder.appending(path: "latchkey.d") }

    @Test("latchkey config shows settings with their source, and changes one so that the agent starts with it")
    func whole() async throws {
        let board = try TestBoard(
            settings: "# The plant's.\n[broker]\nhost = \"b.example\" # ours\npassword = \"hunter2\"\n")
        let before = try String(contentsOf: board.configuration, encoding: .utf8)
        let shown = try await config(board, "show")
        #expect(
            shown.status == 0 && shown.output.contains("broker.host\t\"b.example\"\tlatchkey.toml\n"), "\(shown.output)"
        )
        #expect(shown.output.contains("broker.port\t0\tdefault\n"))
        #expect(shown.output.contains("broker.password\t\"[masked]\"\tlatchkey.toml\n"))
        let changed = try await config(board, "show", "--changed", "--json")
        #expect(!changed.output.contains("hunter2") && !changed.output.contains("broker.port"), "\(changed.output)")

        #expect(try await config(board, "get", "broker.password").output == "hunter2\n")
        #expect(try await config(board, "get", "api.read").output == "@latchkey\n")
        let port = try await config(board, "get", "broker.port", "--json").json
        #expect(port["value"] as? Int == 0 && port["source"] as? String == "default")

        let set = try await config(board, "set", "broker.host", "c.example")
        #expect(
            set.status == 0 && set.output.contains("takes effect when the agent starts again"),
            "\(set.output) \(set.errors)")
        #expect(try String(contentsOf: board.configuration, encoding: .utf8) == before)
        let text = try String(contentsOf: dropIns(board).appending(path: "50-local.toml"), encoding: .utf8)
        #expect(
            text.hasPrefix("# Written by: latchkey config") && text.hasSuffix("\n\n[broker]\nhost = \"c.example\"\n"))
        let host = try await config(board, "get", "broker.host", "--json").json
        #expect(
            host["files"] as? [String] == [
                board.configuration.path, dropIns(board).appending(path: "50-local.toml").path,
            ])
        #expect(try await config(board, "show").output.contains("broker.host\t\"c.example\"\t50-local.toml\n"))
        let again = try await config(board, "set", "broker.host", "c.example", "--json").json
        #expect(again["changed"] as? Bool == false && again["restart"] as? Bool == false)
        #expect(try await config(board, "set", "proximity.least_signal", "--", "-70").status == 0)
        #expect(try await config(board, "get", "proximity.least_signal").output == "-70\n")
        #expect(try await config(board, "set", "proximity.least_signal", "--default").status == 0)
        #expect(try await config(board, "get", "proximity.least_signal").output == "0\n")
        try await board.start()
        try await board.tearDown()
    }

    @Test("latchkey config adds, changes and removes tables of a kind, and the agent starts with what it wrote")
    func tables() async throws {
        let board = try TestBoard(settings: "# The plant's.\n[gateway]\nrenew_days = 30 # a month\n")
        let before = try String(contentsOf: board.configuration, encoding: .utf8)
        let added = try await config(board, "add", "inbox", "name=orders", "filter=orders/#", "qos=2")
        #expect(added.status == 0 && added.output.contains("[[inbox]]"), "\(added.output) \(added.errors)")
        let set = try await config(board, "set", "inbox.orders.limit_messages", "50", "--json").json
        #expect(set["former"] is NSNull && set["value"] as? Int == 50 && set["restart"] as? Bool == true)
        #expect(try await config(board, "get", "inbox[orders].limit_messages").output == "50\n")
        let text = try String(contentsOf: dropIns(board).appending(path: "50-local.toml"), encoding: .utf8)
        #expect(
            text.hasSuffix("\n\n[[inbox]]\nname = \"orders\"\nfilter = \"orders/#\"\nlimit_messages = 50\nqos = 2\n"))
        let age = try await config(board, "set", "inbox.orders.max_age_hours", "3")
        #expect(age.output.contains(", and was not set\n"), "\(age.output)")
        try await board.start()
        try await board.stop()
        let gone = try await config(board, "unset", "inbox.orders")
        #expect(gone.status == 0 && gone.output.contains("no longer in"), "\(gone.output) \(gone.errors)")
        #expect(try String(contentsOf: board.configuration, encoding: .utf8) == before)
        try await board.tearDown()
    }

    @Test(
        "latchkey config refuses what the agent would refuse, and changes nothing then",
        arguments: [
            (["set", "broker.port", "99999"], 65, "broker.port: is 99999; write a whole number"),
            (["set", "broker.prot", "1"], 65, "did you mean: broker.port"),
            (["set", "api.operate", "nobody-of-this-name"], 65, "nobody-of-this-name does not exist"),
            (["get", "broker.prot"], 65, "there is no setting broker.prot"), (["set", "broker.port"], 64, "--default"),
            (["set", "broker", "x"], 65, "name one of them: broker."),
            (["set", "hosts", "x"], 65, "latchkey config add NAME KEY=VALUE"),
            (["set", "actions.lamp.retries", "5"], 65, "latchkey config add actions KEY=VALUE"),
            (["add", "actions", "name=lamp"], 65, "command: missing"), (["add", "inbox", "orders"], 64, "key=value"),
            (["unset", "broker.host"], 65, "does not set broker.host"),
            (["show", "--config", "/nope/latchkey.toml"], 78, "cannot read /nope/latchkey.toml"),
            (["set", "broker.port", "1", "--config", "/nope/latchkey.toml"], 78, "cannot read /nope/latchkey.toml"),
        ])
    func refused(arguments: [String], status: Int32, says: String) async throws {
        let board = try TestBoard()
        let before = try Data(contentsOf: board.configuration)
        let result = try await Program(name: "latchkey").run(
            ["config"] + arguments, environment: ["LATCHKEY_CONFIG": board.configuration.path])
        #expect(result.status == status, "\(result.errors)")
        #expect(result.errors.contains(says), "\(result.errors)")
        #expect(try Data(contentsOf: board.configuration) == before)
        #expect(!FileManager.default.fileExists(atPath: dropIns(board).appending(path: "50-local.toml").path))
        try await board.tearDown()
    }

    @Test("the agent starts with the drop-in of an image and a change of it, and names the file of a fault")
    func dropIn() async throws {
        let board = try TestBoard()
        let socket = board.folder.appending(path: "image.sock").path
        try board.dropIn("10-image.toml", "[api]\nsocket = \"\(socket)\"\n[agent]\nlog_level = \"debug\"\n")
        try await board.start()
        #expect(FileManager.default.fileExists(atPath: socket) && !FileManager.default.fileExists(atPath: board.socket))
        try await board.stop()
        let set = try await config(board, "set", "api.socket", board.socket)
        #expect(set.status == 0 && set.output.contains("latchkey.d/50-local.toml"), "\(set.output) \(set.errors)")
        try await board.start()
        #expect(FileManager.default.fileExists(atPath: board.socket))
        try await board.stop()

        let site = try board.dropIn("90-site.toml", "[agent]\nlog_level = \"info\"\n")
        let hidden = try await config(board, "set", "agent.log_level", "trace")
        #expect(hidden.status != 0 && hidden.errors.contains(site.path), "\(hidden.errors)")
        let undone = try await config(board, "unset", "api.socket")
        #expect(undone.output.contains("and is \"\(socket)\""), "\(undone.output) \(undone.errors)")

        try board.dropIn("90-site.toml", "[agent]\n\nlog_level = \n")
        let run = try await Program(name: "latchkey").run(["run", "--config", board.configuration.path])
        #expect(run.status == 78 && run.errors.contains("\(site.path): line 3"), "\(run.errors)")
        try board.dropIn("90-site.toml", "[agent]\nlog_levle = \"info\"\n")
        let check = try await config(board, "check", "--syntax-only")
        #expect(
            check.status == 78 && check.output.contains("\(site.path): agent.log_levle: unknown key"), "\(check.output)"
        )
        try await board.tearDown()
    }

    @Test(
        "latchkey config may be used by those who may write the file",
        .enabled(if: getuid() == 0, "takes a second user"))
    func forbidden() async throws {
        let board = try TestBoard()
        #expect(chmod(board.folder.path, 0o755) == 0)
        let result = try await Program(url: URL(filePath: "/usr/bin/setpriv")).run([
            "--reuid=65534", "--regid=65534", "--clear-groups", Program(name: "latchkey").url.path, "config", "set",
            "broker.port", "1", "--config", board.configuration.path,
        ])
        #expect(result.status == 77 && result.errors.contains("may not change"), "\(result.errors)")
        try await board.tearDown()
    }
}
