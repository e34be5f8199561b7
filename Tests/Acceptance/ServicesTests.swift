import Foundation
import GatewayLab
import TestSupport
import Testing

/// The services of a gateway as a person uses them: users and groups, storage, devices, enterprise applications.
@Suite("Services of the gateway", .serialized, .timeLimit(.minutes(15)))
struct ServicesTests {
    private static let settings = "[storage]\nlocal = true\n"

    /// A registered board with alice logged in.
    private func withAlice(_ body: (Lab, TestBoard) async throws -> Void) async throws {
        try await withLabAndBoard(settings: Self.settings) { lab, board in
            _ = try await board.enroll(at: lab)
            try await logIn(board, as: "alice")
            try await body(lab, board)
        }
    }

    private func logIn(_ board: TestBoard, as user: String) async throws {
        let result = try await board.latchkey(
            "login", "--user", user, "--password-stdin", input: "\(user)-password\n")
        guard result.status == 0 else { throw Unexpected(result.errors) }
    }

    /// What a program sees of a refusal: the error's code and number, and the exit status.
    private struct Refused: Equatable {
        let code: String?
        let number: Int?
        let status: Int32

        init(_ code: String?, _ number: Int?, _ status: Int32) {
            (self.code, self.number, self.status) = (code, number, status)
        }
    }

    private func refusal(
        _ board: TestBoard, _ arguments: String..., input: String? = nil
    ) async throws -> Refused {
        let result = try await Program(name: "latchkey").run(
            arguments + ["--json", "--socket", board.socket], input: input)
        let error = try JSONSerialization.jsonObject(with: Data(result.errors.utf8))
        return Refused(
            value(error, "error", "code") as? String, value(error, "error", "gateway", "number") as? Int, result.status)
    }

    private func names(_ answer: [String: Any], _ member: String) -> [String] {
        (answer["resources"] as? [[String: Any]] ?? []).compactMap { $0[member] as? String }
    }

    @Test("users of the gateway are listed, filtered, sorted, paged, shown, with picture and schema")
    func users() async throws {
        try await withAlice { _, board in
            let all = try await board.ask("users", "list", "--sort-by", "userName", "--descending")
            #expect(names(all, "userName") == ["bob", "alice"] && all["total"] as? Int == 2)
            let second = try await board.ask("users", "list", "--sort-by", "userName", "--start", "2", "--count", "1")
            #expect(names(second, "userName") == ["bob"] && second["total"] as? Int == 2)
            #expect(second["startIndex"] as? Int == 2)
            for spelling in ["standard", "repeated"] {
                let found = try await board.ask(
                    "users", "list", "--spelling", spelling, "--filter",
                    #"userName sw "a" and filter=name.familyName ew "cher" not emails co "nowhere""#)
                #expect(names(found, "userName") == ["alice"], "\(spelling)")
            }
            let lone = try await board.ask("users", "list", "--attributes", "name.givenName", "--count", "1")
            let user = try #require((lone["resources"] as? [[String: Any]])?.first)
            #expect(value(user, "name", "givenName") as? String == "Alice" && user["emails"] == nil)
            #expect(value(user, "name", "familyName") == nil)

            #expect(try await board.ask("users", "show", "bob")["displayName"] as? String == "Bob Baker")
            #expect(try await board.ask("users", "show", "--id", "bob")["userName"] as? String == "bob")
            let unknown = try await refusal(board, "users", "show", "carol")
            #expect(unknown == Refused("services.user-unknown", 130_003, 1))
            let wrong = try await refusal(board, "users", "list", "--filter", "userName is alice")
            #expect(wrong == Refused("services.filter-invalid", 100_206, 65))

            let picture = board.folder.appending(path: "alice.png")
            #expect(try await board.ask("users", "photo", "alice", picture.path)["mediaType"] as? String == "image/png")
            #expect(try Data(contentsOf: picture).starts(with: [0x89, 0x50, 0x4E, 0x47]))
            let schema = try await board.ask("users", "schema", "--groups")
            #expect((schema["id"] as? String)?.hasSuffix(":Group") == true)

            // Without its token a service would not say who is there.
            #expect(try await board.latchkey("users", "list").output.contains("alice\tAlice Archer\talice@lab.test"))
        }
    }

    @Test("groups of the gateway are created, listed, changed and deleted in the user's name only")
    func groups() async throws {
        try await withAlice { _, board in
            let made = try await board.ask("groups", "create", "fitters", "alice")
            #expect(value(made, "owner", "value") as? String == "alice")
            let id = try #require(made["id"] as? String)
            let twice = try await refusal(board, "groups", "create", "fitters")
            #expect(twice == Refused("services.conflict", 409, 1))

            let added = try await board.ask("groups", "add", "fitters", "bob")
            #expect((added["members"] as? [[String: Any]])?.compactMap { $0["value"] as? String } == ["alice", "bob"])
            let owned = try await board.ask("groups", "list", "--filter", #"owner.value eq "alice""#)
            #expect(names(owned, "displayName") == ["fitters"])
            let withBob = try await board.ask("groups", "list", "--filter", #"members.value eq "bob""#)
            #expect(names(withBob, "id") == [id])
            #expect(try await board.ask("groups", "show", "--id", id)["displayName"] as? String == "fitters")
            let mine = try await board.ask("users", "show", "bob")["groups"] as? [[String: Any]]
            #expect(mine?.compactMap { $0["display"] as? String } == ["fitters"])

            try await logIn(board, as: "bob")
            let foreign = try await refusal(board, "groups", "remove", "fitters", "bob")
            #expect(foreign == Refused("services.refused", 403, 76))
            try await logIn(board, as: "alice")
            let left = try await board.ask("groups", "remove", "fitters", "bob")
            #expect((left["members"] as? [Any])?.count == 1)
            let gone = try await refusal(board, "groups", "remove", "fitters", "bob")
            #expect(gone == Refused("services.member-unknown", nil, 1))

            let unasked = try await refusal(board, "groups", "delete", "fitters")
            #expect(unasked.code == "usage.unconfirmed" && unasked.status == 64)
            try await board.ask("groups", "delete", "--yes", "fitters")
            let absent = try await refusal(board, "groups", "show", "fitters")
            #expect(absent == Refused("services.group-unknown", nil, 1))
        }
    }

    @Test("values on the board are sealed by segment, with a password if wanted, and outlive a kill")
    func localStorage() async throws {
        try await withAlice { _, board in
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            try await board.ask("storage", "save", #"a-B\9._"#, "seven")
            let saved = try await events.output.line(containing: "items.did-save")
            #expect(saved.contains(#""place":"local""#) && !saved.contains("seven"))
            let result = try await board.latchkey(
                "storage", "save", "secret", "hidden text", "--password", "--segment", "application-user",
                input: "open sesame\n")
            #expect(result.status == 0, "\(result.errors)")
            // A user's values are not the board's, nor another user's.
            #expect(try await refusal(board, "storage", "find", "secret") == Refused("items.not-found", 106, 1))
            let segment = ["--segment", "application-user"]
            #expect(
                try await refusal(board, "storage", "find", "secret", segment[0], segment[1])
                    == Refused("items.password-required", 102, 65))
            #expect(
                try await refusal(
                    board, "storage", "find", "secret", segment[0], segment[1], "--password", input: "close sesame\n")
                    == Refused("items.password-wrong", 102, 77))

            try await board.stop(SIGKILL)
            let files = try FileManager.default.contentsOfDirectory(atPath: board.state.path)
            for file in files {
                let bytes = try? Data(contentsOf: board.state.appending(path: file))
                #expect(bytes?.firstRange(of: Data("hidden text".utf8)) == nil, "\(file)")
            }
            try await board.start()
            let found = try await board.latchkey("storage", "find", #"a-B\9._"#)
            #expect(found.output == "seven")
            #expect(try await board.ask("storage", "find", #"a-B\9._"#)["text"] as? String == "seven")
            let opened = try await board.latchkey(
                "storage", "find", "secret", "--password", "--segment", "application-user", input: "open sesame\n")
            #expect(opened.output == "hidden text", "\(opened.errors)")
            let listed = try await board.ask("storage", "list", "--segment", "application-user")["items"]
            let entry = try #require((listed as? [[String: Any]])?.first)
            #expect(entry["key"] as? String == "secret" && entry["encrypted"] as? Bool == true)

            #expect(
                try await refusal(board, "storage", "save", "a b", "x") == Refused("items.key-invalid", 300_002, 65))
            #expect(try await refusal(board, "storage", "save", "", "x") == Refused("items.key-missing", 300_002, 65))
            #expect(
                try await refusal(board, "storage", "save", "k", "x", "--segment", "user")
                    == Refused("items.segment-invalid", 300_001, 65))
            #expect(try await board.ask("storage", "delete", #"a-B\9._"#)["deleted"] as? Int == 1)
            #expect(try await board.ask("storage", "delete", #"a-B\9._"#)["deleted"] as? Int == 0)
            for key in ["one", "two"] { try await board.ask("storage", "save", key, key) }
            #expect(try await board.ask("storage", "delete", "--all", "--yes")["deleted"] as? Int == 2)
            #expect(try await board.latchkey("logout").status == 0)
            #expect(
                try await refusal(board, "storage", "list", "--segment", "application-user")
                    == Refused("gateway.user-required", 120_005, 1))
        }
    }

    @Test("values are not kept on a board whose settings do not allow it")
    func localStorageDisabled() async throws {
        try await withLabAndBoard { lab, board in
            _ = try await board.enroll(at: lab)
            #expect(
                try await refusal(board, "storage", "save", "k", "v") == Refused("items.local-disabled", 331_001, 78))
        }
    }

    @Test("values at the gateway are kept by segment, new and in place of earlier ones")
    func cloudStorage() async throws {
        try await withAlice { lab, board in
            let events = try board.follow("status", "--follow")
            _ = try await events.output.line(containing: "uptime")
            for segment in ["application", "user", "application-user"] {
                let at = ["--cloud", "--segment", segment]
                func run(_ words: String...) async throws -> Program.Result {
                    try await Program(name: "latchkey").run(words + at + ["--socket", board.socket])
                }
                #expect(try await run("storage", "save", "a/key ü", "first").status == 0, "\(segment)")
                #expect(try await run("storage", "save", "a/key ü", "\(segment) Grüße", "--type", "text/x").status == 0)
                #expect(try await run("storage", "find", "a/key ü").output == "\(segment) Grüße")
                #expect(try await run("storage", "list").output.hasPrefix("a/key ü\ttext/x\t"))
            }
            _ = try await events.output.line(containing: #""place":"cloud""#)
            try await logIn(board, as: "bob")
            let shared = try await board.latchkey("storage", "find", "a/key ü", "--cloud")
            #expect(shared.output == "application Grüße")
            #expect(
                try await refusal(board, "storage", "find", "a/key ü", "--cloud", "--segment", "user")
                    == Refused("items.not-found", 106, 1))
            #expect(try await board.ask("storage", "delete", "a/key ü", "--cloud")["deleted"] as? Int == 1)
            #expect(try await board.ask("storage", "delete", "a/key ü", "--cloud")["deleted"] as? Int == 0)
            #expect(try await board.latchkey("logout").status == 0)
            // The board's own token reaches the application's values, and nobody else's.
            #expect(try await board.latchkey("storage", "save", "k", "v", "--cloud").status == 0)
            #expect(
                try await refusal(board, "storage", "find", "k", "--cloud", "--segment", "user")
                    == Refused("gateway.user-required", 120_005, 1))
        }
    }

    @Test("devices are listed; attributes of this one are set, read and deleted, up to the gateway's limit")
    func devices() async throws {
        try await withAlice { lab, board in
            let device = try #require(await lab.devices().first)
            let devices = try await board.ask("devices")["devices"] as? [[String: Any]]
            #expect(devices?.compactMap { $0["mag_identifier"] as? String } == [device.magIdentifier])

            #expect(try await board.latchkey("metadata", "get", "place", "--json").status == 1)
            try await board.ask("metadata", "set", "place/of it", "hall 3")
            #expect(try await board.latchkey("metadata", "get", "place/of it").output == "hall 3\n")
            #expect(try await board.latchkey("metadata", "list").output == "place/of it\thall 3\n")
            #expect(try await board.ask("metadata", "delete", "never there")["deleted"] as? String == "never there")
            for number in 2...16 { try await board.ask("metadata", "set", "n\(number)", "\(number)") }
            let full = try await refusal(board, "metadata", "set", "n17", "17")
            #expect(full == Refused("services.metadata-full", 1_016_155, 75))
            try await board.ask("metadata", "delete", "place/of it")
            #expect(try await board.latchkey("metadata", "get", "place/of it").status == 1)
            try await board.ask("metadata", "delete", "--all", "--yes")
            #expect((try await board.ask("metadata", "list")["metadata"] as? [Any])?.isEmpty == true)
        }
    }

    @Test("enterprise applications are listed and opened as the user, and no token goes to another host")
    func apps() async throws {
        try await withAlice { lab, board in
            let apps = try await board.ask("apps", "list")["apps"] as? [[String: Any]]
            #expect(
                apps?.compactMap { $0["id"] as? String }
                    == ["timesheet", "hours", "payroll", "portal", "draft", "scanner", "elsewhere"])
            for app in ["timesheet", "hours"] {
                let page = try await board.latchkey("apps", "open", app)
                #expect(page.output.contains("Timesheet of alice"), "\(page.errors)")
            }
            #expect(try await board.latchkey("apps", "open", "payroll").output == "https://payroll.test/start\n")
            let opened = try await board.ask("apps", "open", "payroll")
            #expect(opened["location"] as? String == "https://payroll.test/start")
            #expect(try await board.latchkey("apps", "open", "portal").output.hasSuffix("/websso/login\n"))
            for (app, refused) in [
                ("elsewhere", Refused("services.app-address-foreign", 140_001, 76)),
                ("draft", Refused("services.app-without-address", 140_002, 76)),
                ("scanner", Refused("services.app-native", 140_003, 1)),
                ("nothing", Refused("services.app-unknown", 140_004, 1)),
            ] { #expect(try await refusal(board, "apps", "open", app) == refused) }
            let icon = board.folder.appending(path: "icon.png")
            try await board.ask("apps", "icon", "timesheet", icon.path)
            #expect(try Data(contentsOf: icon).starts(with: [0x89, 0x50, 0x4E, 0x47]))
            lab.inject(Fault(.captivePortal, at: .enterpriseBrowser, times: 1))
            #expect(try await refusal(board, "apps", "list") == Refused("services.apps-invalid", 140_005, 76))
            #expect(try await board.latchkey("logout").status == 0)
            #expect(try await refusal(board, "apps", "open", "timesheet").code == "gateway.user-required")
        }
    }

    @Test("lists of the gateway's services are tables with totals on a terminal, which asks for item passwords")
    func terminal() async throws {
        try await withAlice { _, board in
            func onTerminal(_ arguments: String...) throws -> TerminalProgram {
                try TerminalProgram(
                    Program(name: "latchkey").url, arguments + ["--socket", board.socket],
                    environment: ["NO_COLOR": "1"])
            }
            let users = try onTerminal("users", "list", "--sort-by", "userName", "--count", "1")
            #expect(try await users.ended() == 0)
            #expect(
                users.screen.text.split(whereSeparator: \.isNewline).map(String.init) == [
                    "USER   NAME          MAIL            ID", "alice  Alice Archer  alice@lab.test  alice",
                    "1–1 of 2 users",
                ])
            for (command, answer) in [(["save", "k", "a value"], "saved k"), (["find", "k"], "a value")] {
                let asking = try TerminalProgram(
                    Program(name: "latchkey").url,
                    ["storage"] + command + ["--password", "--socket", board.socket])
                try await asking.shows("Password of the item:")
                asking.type("open sesame\n")
                #expect(try await asking.ended() == 0)
                #expect(asking.screen.text.contains(answer) && !asking.screen.text.contains("sesame"))
            }
        }
    }
}
