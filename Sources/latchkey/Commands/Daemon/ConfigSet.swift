import Agent
import AgentCore
import AgentSettingsFiles
import ArgumentParser
import Glibc
import Groundwork

extension ConfigCommand {
    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Change one setting.",
            discussion: """
                It is written to latchkey.d/50-local.toml beside the settings file, which overrides that; no other file \
                is changed. What the agent would refuse at its start is refused here, and so is what a later file of \
                latchkey.d overrides. It takes effect when the agent starts again. A table that may occur several times, \
                such as [[hosts]], is addressed by its number, from 0, or by its name; 'config add' makes one, and \
                'config unset' takes one out.

                  $ latchkey config set broker.host broker.example
                  $ latchkey config set api.operate @sudo @adm
                  $ latchkey config set proximity.least_signal -- -70
                  $ latchkey config set broker.host --default
                  $ latchkey config set actions.lamp.retries 5
                  $ latchkey config set 'hosts[0].public' true
                """)
        @Argument(
            help: ArgumentHelp("Such as broker.port.", valueName: "key.path"),
            completion: .custom { _, _, _ in SettingsReport.names })
        var keyPath: String
        @Argument(
            help: ArgumentHelp(
                "The value; several for an array, or [] for an empty one. Put -- before a negative number.",
                valueName: "value"))
        var values: [String] = []
        @Flag(name: .customLong("default"), help: "Write the default.") var isDefault = false
        @Flag(help: "Do not check that what it names exists on this machine: for images and other boards.")
        var syntaxOnly = false
        @OptionGroup var settings: SettingsFileOption

        func validate() throws {
            guard values.isEmpty == isDefault else { throw ValidationError("give a value, or --default") }
        }

        func run() throws {
            let file = settings.file
            let change = try SettingsFileOption.naming(file) {
                try file.set(keyPath, to: isDefault ? nil : values, comparingMachine: !syntaxOnly)
            }
            settings.report(change, of: keyPath, in: file) { shown in
                guard change.isWritten else { return "\(keyPath) is \(shown.value) already" }
                return "\(keyPath) is \(shown.value) in \(file.changes), and was \(shown.former)"
            }
        }
    }

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add a table of a kind that may occur several times: hosts, brokers, inbox, actions, grants.",
            discussion: """
                It is written to latchkey.d/50-local.toml beside the settings file, and follows those of the other \
                files. A key that is given several times is an array.

                  $ latchkey config add inbox name=orders 'filter=orders/#'
                  $ latchkey config add actions name=lamp 'filter=lamp/#' command=/usr/bin/lamp command=--quick
                """)
        @Argument(help: ArgumentHelp("Such as inbox.", valueName: "name")) var name: String
        @Argument(help: ArgumentHelp("A key and its value, such as name=orders.", valueName: "key=value"))
        var members: [String]
        @Flag(help: "Do not look for what it names on this machine: for images and other boards.")
        var syntaxOnly = false
        @OptionGroup var settings: SettingsFileOption

        func validate() throws {
            for member in members where !member.dropFirst().contains("=") {
                throw ValidationError("a key and its value have the form 'key=value', not '\(member)'")
            }
        }

        func run() throws {
            var given: [(key: String, words: [String])] = []
            for member in members {
                let key = String(member.prefix { $0 != "=" })
                let word = String(member.dropFirst(key.count + 1))
                if let index = given.firstIndex(where: { $0.key == key }) {
                    given[index].words.append(word)
                } else {
                    given.append((key, [word]))
                }
            }
            let file = settings.file
            let change = try SettingsFileOption.naming(file) {
                try file.add(to: name, given, comparingMachine: !syntaxOnly)
            }
            settings.report(change, of: name, in: file) { "[[\(name)]] \($0.value) is in \(file.changes)" }
        }
    }

    struct Unset: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unset",
            abstract: "Undo 'config set' of a setting, or 'config add' of a table.",
            discussion: """
                It is removed from latchkey.d/50-local.toml; what another file says then applies, or the default.

                  $ latchkey config unset broker.port
                  $ latchkey config unset actions.lamp
                """)
        @Argument(
            help: ArgumentHelp("Such as broker.port.", valueName: "key.path"),
            completion: .custom { _, _, _ in SettingsReport.names })
        var keyPath: String
        @Flag(help: "Do not look for what the rest names on this machine: for images and other boards.")
        var syntaxOnly = false
        @OptionGroup var settings: SettingsFileOption

        func run() throws {
            let file = settings.file
            let change = try SettingsFileOption.naming(file) {
                try file.unset(keyPath, comparingMachine: !syntaxOnly)
            }
            settings.report(change, of: keyPath, in: file) { shown in
                let value = change.value == .null ? "not set" : shown.value
                return "\(keyPath) is no longer in \(file.changes); it was \(shown.former), and is \(value)"
            }
        }
    }
}

extension SettingsFileOption {
    /// Prints what was done to a file, for a program or a person.
    ///
    /// - Parameter describe: gets the values as the file writes them, without what is secret.
    fileprivate func report(
        _ change: SettingsFile.Change, of keyPath: String, in file: SettingsFile,
        _ describe: ((former: String, value: String)) -> String
    ) {
        let former = SettingsReport.mask.masked(change.former, of: keyPath)
        let formerText = former == .null ? "not set" : SettingsReport.text(former)
        let value = SettingsReport.mask.masked(change.value, of: keyPath)
        guard !json else {
            return Terminal.line(
                JSON.object([
                    "key": .string(keyPath), "former": former, "value": value, "file": .string(file.changes),
                    "changed": .bool(change.isWritten),
                    "restart": .bool(change.isWritten && change.former != change.value),
                ]).text)
        }
        Terminal.line(describe((formerText, SettingsReport.text(value))))
        guard change.isWritten else { return }
        let isOfSystemd = access("/run/systemd/system", F_OK) == 0
        Terminal.line(
            "it takes effect when the agent starts again" + (isOfSystemd ? ": systemctl restart latchkey" : ""))
    }
}
