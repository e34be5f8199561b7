import Foundation
import GatewayLab
import TestSupport
import Testing

/// The services of a gateway as a person uses them: users and groups, storage, devices, enterprise applications.
@Suite("Services of the gateway", .serialized, .timeLimit(.minutes(15)))
struct ServicesTests {
    static let settings = "[storage]\nlocal = true\n"

    /// A registered board with alice logged in.
    func withAlice(_ body: (Lab, TestBoard) async throws -> Void) async throws {
        try await withLabAndBoard(settings: Self.settings) { lab, board in
            _ = try await board.enroll(at: lab)
            try await logIn(board, as: "alice")
            try await body(lab, board)
        }
    }

    func logIn(_ board: TestBoard, as user: String) async throws {
        let result = try await board.latchkey(
            "login", "--user", user, "--password-stdin", input: "\(user)-password\n")
        guard result.status == 0 else { throw Unexpected(result.errors) }
    }

    /// What a program sees of a refusal: the error's code and number, and the exit status.
    struct Refused: Equatable {
        let code: String?
        let number: Int?
        let status: Int32

        init(_ code: String?, _ number: Int?, _ status: Int32) {
            (self.code, self.number, self.status) = (code, number, status)
        }
    }

    func refusal(
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
