import Groundwork
import Settings
import Testing

@testable import Agent
@testable import AgentCore
@testable import AgentMessages
@testable import AgentSettingsFiles

@Suite("A change of one value in the text of the settings")
struct SettingsTextTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        let path: String
        let value: JSON
        let before: String
        let after: String
        var testDescription: String { what }
    }

    static let rows = [
        Row(
            what: "takes the place of the old one, and the comment after it stays", path: "broker.port", value: 1883,
            before: "# ours\n[broker] # the plant's\n  port   =  8883   # TLS\n\nhost = \"a\"",
            after: "# ours\n[broker] # the plant's\n  port   =  1883   # TLS\n\nhost = \"a\""),
        Row(
            what: "goes below the last key of its table, before the comment of the next", path: "broker.window",
            value: 7,
            before: "[broker]\nport = 1\n# a comment\nhost = \"a\" # b\n\n# The box.\n[outbox]\ndurable = true\n",
            after:
                "[broker]\nport = 1\n# a comment\nhost = \"a\" # b\nwindow = 7\n\n# The box.\n[outbox]\ndurable = true\n"
        ),
        Row(
            what: "goes into an empty table without a line break", path: "broker.port", value: 1, before: "[broker]",
            after: "[broker]\nport = 1\n"),
        Row(
            what: "makes its table at the end", path: "broker.host", value: "b", before: "[outbox]\ndurable = true",
            after: "[outbox]\ndurable = true\n\n[broker]\nhost = \"b\"\n"),
        Row(
            what: "makes its table in an empty file", path: "broker.host", value: "b", before: "",
            after: "[broker]\nhost = \"b\"\n"),
        Row(
            what: "replaces an array of several lines with comments in it", path: "api.read", value: ["x", "y"],
            before: "[api]\nread = [ # who\n  \"a]\", # \"#\n  'b',\n] # end\npublish = []\n",
            after: "[api]\nread = [\"x\", \"y\"] # end\npublish = []\n"),
        Row(
            what: "is not misled by brackets, marks and signs in text", path: "broker.host", value: "n",
            before: "[broker]\nuser_name = \"a \\\" # ] = [x]\"\npassword = '# [y]'\nhost = \"o\"\n",
            after: "[broker]\nuser_name = \"a \\\" # ] = [x]\"\npassword = '# [y]'\nhost = \"n\"\n"),
        Row(
            what: "stands in the right table of several", path: "hosts[1].host", value: "n",
            before: "[[hosts]]\nhost = \"a\"\n[[hosts]]\npublic = true\nhost = \"b\"\n[[hosts]]\nhost = \"c\"\n",
            after: "[[hosts]]\nhost = \"a\"\n[[hosts]]\npublic = true\nhost = \"n\"\n[[hosts]]\nhost = \"c\"\n"),
        Row(
            what: "is added to the right table of several", path: "hosts[0].public", value: true,
            before: "[[hosts]]\nhost = \"a\"\n\n[[hosts]]\nhost = \"b\"\n",
            after: "[[hosts]]\nhost = \"a\"\npublic = true\n\n[[hosts]]\nhost = \"b\"\n"),
        Row(
            what: "is found under a key with dots, and with quotation marks", path: "broker.port", value: 2,
            before: "broker . \"port\" = 1 # p\n", after: "broker . \"port\" = 2 # p\n"),
        Row(
            what: "is written with what TOML escapes", path: "broker.host", value: "a\"b\\c\nd\u{1}é",
            before: "[broker]\r\nhost = \"\"\r\n", after: "[broker]\r\nhost = \"a\\\"b\\\\c\\nd\\u0001é\"\r\n"),
        Row(
            what: "keeps a byte order mark", path: "broker.port", value: 2, before: "\u{FEFF}[broker]\nport = 1\n",
            after: "\u{FEFF}[broker]\nport = 2\n"),
        Row(
            what: "may be a number with a point", path: "location.latitude", value: .number(-49.5),
            before: "[location]\nlatitude = +0.0\n", after: "[location]\nlatitude = -49.5\n"),
    ]

    @Test("a changed value is written where the old one was or belongs, and all other text stays", arguments: rows)
    func set(row: Row) throws {
        var text = SettingsText(row.before)
        try text.set(#require(SettingsPath(row.path)), to: row.value)
        #expect(text.text == row.after)
        // Again, it changes nothing.
        try text.set(#require(SettingsPath(row.path)), to: row.value)
        #expect(text.text == row.after)
    }

    @Test(
        "a form of settings that is not understood is left as it is",
        arguments: [
            ("broker = { port = 1 }\n", "broker.port", SettingsText.Fault.otherForm),
            ("hosts = [{ host = \"a\" }]\n", "hosts[0].host", .otherForm),
            ("[[hosts]]\nhost = \"a\"\n", "hosts[1].host", .noSuchTable),
            ("broker = 1\n", "broker.port", .noSuchTable),
        ])
    func refused(before: String, path: String, fault: SettingsText.Fault) throws {
        var text = SettingsText(before)
        let place = try #require(SettingsPath(path))
        #expect(throws: fault) { try text.set(place, to: 2) }
        #expect(text.text == before)
    }

    @Test(
        "a table of settings is added below the last of its kind, or at the end, and nothing else changes",
        arguments: [
            ("", "[[hosts]]\nhost = \"n\"\npublic = true\n"),
            (
                "# ours\n[broker]\nport = 1",
                "# ours\n[broker]\nport = 1\n\n[[hosts]]\nhost = \"n\"\npublic = true\n"
            ),
            (
                "[[hosts]] # first\nhost = \"a\" # a\n\n# The broker.\n[broker]\nport = 1\n",
                "[[hosts]] # first\nhost = \"a\" # a\n\n[[hosts]]\nhost = \"n\"\npublic = true\n"
                    + "\n# The broker.\n[broker]\nport = 1\n"
            ),
        ])
    func added(before: String, after: String) throws {
        var text = SettingsText(before)
        try text.add(to: "hosts", [("host", "n"), ("public", true)])
        #expect(text.text == after)
        // Out again, nothing is left of it.
        let count = try SettingsDocument.parse(after)["hosts"]?.array?.count ?? 0
        try text.remove("hosts", count - 1, nil)
        #expect(text.text == before + (before.hasSuffix("\n") || before.isEmpty ? "" : "\n"))
    }

    @Test(
        "a setting that is taken out leaves the rest as it was, with its comments",
        arguments: [
            (
                "broker", nil as Int?, "host" as String?, "[broker]\nport = 1 # p\nhost = \"a\" # gone\n# end\n",
                "[broker]\nport = 1 # p\n# end\n"
            ),
            ("api", nil, "read", "[api]\nread = [ # who\n  \"a\",\n]\npublish = []\n", "[api]\npublish = []\n"),
            (
                "hosts", 0, nil,
                "# All.\n\n[[hosts]]\nhost = \"a\"\n# inside\npublic = true\n\n# The second.\n[[hosts]]\nhost = \"b\"\n",
                "# All.\n\n# The second.\n[[hosts]]\nhost = \"b\"\n"
            ),
            (
                "hosts", 1, "public", "[[hosts]]\nhost = \"a\"\n[[hosts]]\npublic = true\nhost = \"b\"\n",
                "[[hosts]]\nhost = \"a\"\n[[hosts]]\nhost = \"b\"\n"
            ),
            ("broker", nil, "port", "broker.port = 2\nbroker.host = \"a\"\n", "broker.host = \"a\"\n"),
        ])
    func removed(table: String, index: Int?, key: String?, before: String, after: String) throws {
        var text = SettingsText(before)
        try text.remove(table, index, key)
        #expect(text.text == after)
    }

    @Test(
        "a place in the settings is named by number or by name, and a wrong name says how",
        arguments: [
            ("broker.port", "broker", nil as Int?, "port" as String?), ("hosts[1].public", "hosts", 1, "public"),
            ("hosts[b.example:8443].public", "hosts", 1, "public"), ("actions.lamp.retries", "actions", 0, "retries"),
            ("actions[lamp]", "actions", 0, nil), ("actions.lamp", "actions", 0, nil),
        ])
    func place(text: String, table: String, index: Int?, key: String?) throws {
        let place = try SettingsPlace(text, in: Self.survey)
        #expect(place.table == table && place.index == index && place.key == key)
    }

    private static let survey: [SurveyedSetting] = [
        SurveyedSetting(keyPath: "broker.port", value: 0, preset: 0, isWritten: false),
        SurveyedSetting(
            keyPath: "hosts", value: [["host": "a"], ["host": "b.example:8443"]], preset: [], isWritten: true),
        SurveyedSetting(keyPath: "actions", value: [["name": "lamp"]], preset: [], isWritten: true),
    ]

    @Test(
        "a name of no place in the settings says what is wrong with it",
        arguments: [
            ("broker", SettingsEditError.table(keyPath: "broker", keys: ["broker.port"])),
            ("hosts", .array(keyPath: "hosts")),
            ("hosts[2].host", .noElement(array: "hosts", element: "2", there: ["a", "b.example:8443"])),
            ("actions.door.retries", .noElement(array: "actions", element: "door", there: ["lamp"])),
            ("hosts[0]x", .unknown(keyPath: "hosts[0]x", nearest: [])),
            ("hosts[0.host", .unknown(keyPath: "hosts[0.host", nearest: [])),
            ("hosts[0].HOST", .unknown(keyPath: "hosts[0].HOST", nearest: [])),
            ("", .unknown(keyPath: "", nearest: [])),
        ])
    func noPlace(text: String, error: SettingsEditError) {
        #expect(throws: error) { try SettingsPlace(text, in: Self.survey) }
    }

    @Test(
        "a path of settings has a table, the number of one in an array, and a key",
        arguments: [
            ("broker.port", "broker", nil, "port"), ("hosts[0].host", "hosts", 0, "host"),
            ("inbox[12].limit_bytes", "inbox", 12, "limit_bytes"),
        ])
    func path(text: String, table: String, index: Int?, key: String) throws {
        let path = try #require(SettingsPath(text))
        #expect(path.table == table && path.index == index && path.key == key)
        #expect(path.description == text)
    }

    @Test(
        "a text that is no path of settings is refused",
        arguments: [
            "", "broker", "broker.", ".port", "a.b.c", "a[].b", "a[x].b", "a[0][1].b", "a[-1].b", "A.b", "a b.c",
        ])
    func noPath(text: String) { #expect(SettingsPath(text) == nil) }
}
