import Groundwork
import Settings
import Testing

@Suite("Settings of several files")
struct SettingsLayersTests {
    private static let main = "/l/latchkey.toml"

    private func layers(_ main: String, _ dropIns: (name: String, text: String)...) throws -> SettingsLayers {
        SettingsLayers(
            main: .init(path: Self.main, members: try SettingsDocument.parse(main)),
            dropIns: try dropIns.map { .init(path: "/l/d/\($0.name)", members: try SettingsDocument.parse($0.text)) })
    }

    @Test("a later file of settings replaces single keys of a table, in byte order of the names")
    func tables() throws {
        let found = try layers(
            "[broker]\nhost = \"a\"\nport = 1\n", ("b.toml", "[broker]\nport = 3\n"),
            ("10.toml", "[broker]\nport = 2\n[api]\nread = [\"x\"]\n"), ("B.toml", "[broker]\nwindow = 7\n"))
        #expect(found.members == ["broker": ["host": "a", "port": 3, "window": 7], "api": ["read": ["x"]]])
        #expect(found.files(saying: "broker.port") == [Self.main, "/l/d/10.toml", "/l/d/b.toml"])
        #expect(found.files(saying: "broker.window") == ["/l/d/B.toml"])
        #expect(found.files(saying: "broker.user_name").isEmpty)
    }

    @Test("an array of values in a later file of settings replaces the former one, as a value does")
    func arrays() throws {
        let found = try layers(
            "[api]\nread = [\"a\", \"b\"]\n", ("1.toml", "[api]\nread = [\"c\"]\noperate = []\n"))
        #expect(found.members == ["api": ["read": ["c"], "operate": []]])
    }

    @Test("a table of a later file of settings is added to its array, or changes the one of its name")
    func named() throws {
        let found = try layers(
            "[[actions]]\nname = \"lamp\"\nretries = 1\n[[hosts]]\nhost = \"a\"\n",
            ("1.toml", "[[actions]]\nname = \"door\"\n[[actions]]\nname = \"lamp\"\nretries = 2\n"),
            ("2.toml", "hosts = []\n[[actions]]\nname = \"door\"\nretries = 3\n"))
        #expect(
            found.members == [
                "actions": [["name": "lamp", "retries": 2], ["name": "door", "retries": 3]], "hosts": [["host": "a"]],
            ])
        #expect(found.files(saying: "actions[0].retries") == [Self.main, "/l/d/1.toml"])
        #expect(found.files(saying: "actions[1]") == ["/l/d/1.toml", "/l/d/2.toml"])
        #expect(found.files(saying: "actions") == [Self.main, "/l/d/1.toml", "/l/d/2.toml"])
        #expect(found.files(saying: "actions[2].retries").isEmpty)
    }

    @Test("two tables of one name in one file of settings stay two, and those without a name are added")
    func doubled() throws {
        let twice = "[[actions]]\nname = \"lamp\"\n[[actions]]\nname = \"lamp\"\n"
        #expect(try layers("", ("1.toml", twice)).members["actions"]?.array?.count == 2)
        #expect(try layers("[[actions]]\nname = \"lamp\"\n", ("1.toml", twice)).members["actions"]?.array?.count == 2)
        let nameless = "[[actions]]\nretries = 1\n"
        #expect(try layers(nameless, ("1.toml", nameless)).members["actions"]?.array?.count == 2)
    }

    @Test("settings of another kind than those of the former file are replaced, in any order")
    func kinds() throws {
        let texts = [
            "hosts = 1\n", "hosts = [\"a\"]\n", "[hosts]\nhost = \"a\"\n", "[[hosts]]\nhost = \"a\"\n",
            "hosts = [1, { host = \"a\" }]\n",
        ]
        for first in texts {
            for second in texts {
                for third in texts {
                    let found = try layers(first, ("1.toml", second), ("2.toml", third))
                    #expect(found.members["hosts"] != nil)
                    _ = found.files(saying: "hosts[0].host")
                    _ = found.placed(SettingsFault(keyPath: "hosts[1].host", fault: "f", fix: "x"))
                }
            }
        }
    }

    @Test(
        "a fault of settings is in the file that says the key, else in the one that has begun the table",
        arguments: [
            ("broker.port", "/l/d/2.toml", "broker.port"), ("broker.host", nil, "broker.host"),
            ("broker.user_name", nil, "broker.user_name"), ("lock", nil, "lock"),
            ("actions[0].retries", "/l/d/1.toml", "actions[1].retries"),
            ("actions[0].command[1]", nil, "actions[0].command[1]"),
            ("actions[1].filter", "/l/d/1.toml", "actions[0].filter"), ("api.read[0]", "/l/d/1.toml", "api.read[0]"),
            ("", nil, ""),
        ] as [(String, String?, String)])
    func fault(keyPath: String, file: String?, place: String) throws {
        let found = try layers(
            "[broker]\nhost = \"a\"\nport = 1\n[[actions]]\nname = \"lamp\"\ncommand = [\"/a\", \"\"]\n",
            (
                "1.toml",
                "[api]\nread = [\"x\"]\n[[actions]]\nname = \"door\"\n[[actions]]\nname = \"lamp\"\nretries = -1\n"
            ), ("2.toml", "[broker]\nport = -1\n"))
        let placed = found.placed(SettingsFault(keyPath: keyPath, fault: "is wrong", fix: "write another"))
        #expect(placed == SettingsFault(file: file, keyPath: place, fault: "is wrong", fix: "write another"))
        #expect(SettingsFault.list([placed], main: "/m").hasPrefix("\(file ?? "/m"): "))
    }

    @Test("settings that are written as a whole are read as the same")
    func written() throws {
        let members: [String: JSON] = [
            "broker": ["host": "a\"b\\c\nd\u{1}é", "port": 1, "tls": true],
            "location": ["latitude": .number(-49.5), "longitude": .number(1e-7)],
            "api": ["read": ["@a", "b"], "operate": []],
            "hosts": [["public": true, "host": "b.example:8443"], ["host": "a"]],
        ]
        let text = SettingsDocument.text(of: members)
        #expect(try SettingsDocument.parse(text) == members, "\(text)")
        #expect(text.hasPrefix("[api]\noperate = []\nread = [\"@a\", \"b\"]\n\n[broker]\n"), "\(text)")
        #expect(text.contains("[[hosts]]\nhost = \"b.example:8443\"\npublic = true\n\n[[hosts]]\n"), "\(text)")
        #expect(SettingsDocument.text(of: [:]).isEmpty)
    }
}
