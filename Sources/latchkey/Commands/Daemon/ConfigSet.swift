import Agent
import ArgumentParser
import Groundwork

extension ConfigCommand {
    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change one setting in the file, and nothing else in it.",
            discussion: """
                Comments and layout stay. What the agent would refuse at its start is refused here, and nothing is \
                changed then. The file is replaced at once and keeps its mode and owner; if somebody else has changed \
                the file meanwhile, their changes are kept. It takes effect when the agent starts again. To add a \
                table that may occur several times, such as [[hosts]], use an editor.

                  $ latchkey config set broker.host broker.example
                  $ latchkey config set api.operate alice @wheel
                  $ latchkey config set proximity.least_signal -- -70
                  $ latchkey config set broker.host --default
                """)
        @Argument(
            help: ArgumentHelp("Such as broker.port.", valueName: "key.path"),
            completion: .custom { _, _, _ in SettingsReport.names })
        var keyPath: String
        @Argument(
            help: ArgumentHelp(
                "The value; several for an array, or [] for an empty one. A number below zero goes after --.",
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
            let former = SettingsReport.mask.masked(change.former, of: keyPath)
            let value = SettingsReport.mask.masked(change.value, of: keyPath)
            guard !settings.json else {
                return Terminal.line(
                    JSON.object([
                        "key": .string(keyPath), "former": former, "value": value, "file": .string(file.path),
                        "changed": .bool(change.isWritten), "restart": .bool(change.isWritten && former != value),
                    ]).text)
            }
            let shown = SettingsReport.text(value)
            guard change.isWritten else { return Terminal.line("\(keyPath) is \(shown) already") }
            Terminal.line("\(keyPath) is \(shown) in \(file.path), and was \(SettingsReport.text(former))")
            Terminal.line("it takes effect when the agent starts again: systemctl restart latchkey")
        }
    }
}
