import Agent
import AgentCore
import AgentSettingsFiles
import ArgumentParser
import CommandWords
import Groundwork
import Settings

/// The settings that a subcommand of `config` is about.
struct SettingsFileOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Settings file (environment: LATCHKEY_CONFIG; default: \(AgentConfiguration.defaultPath)).",
            valueName: "path"))
    var config: String?
    @Flag(help: "Print JSON, for programs; errors too, on standard error.") var json = false

    var file: SettingsFile { Self.file(config) }

    /// - Parameter path: as the option names it.
    static func file(_ path: String?) -> SettingsFile {
        SettingsFile(path ?? Environment["LATCHKEY_CONFIG"], of: Features.all)
    }

    /// With the nearest names in the error, if there is no such setting.
    static func naming<Result>(_ file: SettingsFile, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch SettingsEditError.unknown(let keyPath, let nearest) where nearest.isEmpty {
            let names = try file.settings().map(\.keyPath)
            throw SettingsEditError.unknown(keyPath: keyPath, nearest: NearNames.nearest(to: keyPath, among: names))
        }
    }
}

extension ConfigCommand {
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show every setting, and the file that it comes from.",
            discussion: """
                Files of latchkey.d override the settings file. Secrets are masked. Tables that may occur several \
                times, such as [[hosts]], are shown as JSON. Exit status 78 when a file has faults.
                """)
        @Flag(help: "Show only settings that differ from the default.") var changed = false
        @OptionGroup var settings: SettingsFileOption

        func run() throws {
            let file = settings.file
            let found = try file.settings().filter { !changed || $0.value != $0.preset }
            guard !settings.json else { return Terminal.json(SettingsReport.json(found, of: file)) }
            var table = Table("SETTING", "VALUE", "FROM")
            for setting in found {
                let shown = SettingsReport.mask.masked(setting.value, of: setting.keyPath)
                table.add(setting.keyPath, SettingsReport.text(shown), SettingsReport.source(of: setting))
            }
            if Terminal.standardOutput.isTerminal {
                Terminal.line(file.exists ? file.path : "\(file.path) does not exist")
            }
            if !found.isEmpty { Terminal.line(table.text) }
        }
    }

    struct Get: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "get",
            abstract: "Print the value of one setting, also if it is secret.",
            discussion: """
                Text without quotation marks, each element of an array on a line, tables as JSON. A table that may \
                occur several times is addressed by its number, from 0, or by its name.

                  $ latchkey config get broker.port
                  $ latchkey config get hosts[0].host
                """)
        @Argument(
            help: ArgumentHelp("Such as broker.port.", valueName: "key.path"),
            completion: .custom { _, _, _ in SettingsReport.names })
        var keyPath: String
        @OptionGroup var settings: SettingsFileOption

        func run() throws {
            let file = settings.file
            let setting = try SettingsFileOption.naming(file) { try file.setting(keyPath) }
            guard settings.json else { return Terminal.line(SettingsReport.bare(setting.value)) }
            Terminal.json(SettingsReport.json(setting, masked: false))
        }
    }
}

/// Settings as they are printed.
enum SettingsReport {
    /// Settings hold identifiers and hashes that are not secret, and `identity.key` only says where a key is.
    static let mask = SecretMask(keeping: ["software", "tpm", "pkcs11"], masksOpaque: false)

    /// All names, for completions.
    static var names: [String] { ((try? SettingsFile(nil, of: Features.all).settings()) ?? []).map(\.keyPath) }

    static func json(_ settings: [SurveyedSetting], of file: SettingsFile) -> JSON {
        [
            "file": file.exists ? .string(file.path) : .null,
            "settings": .array(settings.map { json($0, masked: true) }),
        ]
    }

    static func json(_ setting: SurveyedSetting, masked: Bool) -> JSON {
        [
            "key": .string(setting.keyPath), "default": setting.preset,
            "value": masked ? mask.masked(setting.value, of: setting.keyPath) : setting.value,
            "source": setting.files.isEmpty ? "default" : "file", "files": .array(setting.files.map(JSON.string)),
        ]
    }

    /// The file that decides; of tables that may occur several times all files, as each adds to them.
    static func source(of setting: SurveyedSetting) -> String {
        let names = setting.files.map { $0.split(separator: "/").last.map(String.init) ?? $0 }
        guard let last = names.last else { return "default" }
        return setting.keyPath.contains(".") ? last : names.joined(separator: ", ")
    }

    /// As a file writes it; tables as JSON.
    static func text(_ value: JSON) -> String {
        let isOfTables = value.object != nil || value.array?.contains { $0.object != nil } ?? false
        return isOfTables ? value.text : value.tomlLiteral ?? value.text
    }

    /// For scripts.
    static func bare(_ value: JSON) -> String {
        if let text = value.string { return text }
        guard let elements = value.array, elements.allSatisfy({ $0.string != nil }) else { return text(value) }
        return elements.compactMap(\.string).joined(separator: "\n")
    }
}
