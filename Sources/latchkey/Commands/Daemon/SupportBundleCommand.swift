import ArgumentParser
import FoundationEssentials
import Groundwork

struct SupportBundleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "support-bundle",
        abstract: "Collect in one file what support needs to find a fault.",
        discussion: """
            Version, settings, status, the doctor's report, the end of the log, names and sizes of the agent's files, \
            kernel and libraries. Keys, tokens, passwords and PINs are masked, as is what looks like one; the board's \
            identifiers, names of hosts and users and addresses are not: read it before you send it. It works without \
            the daemon too, and best as root.

              $ latchkey support-bundle --out board7.tar.gz
              $ tar -xzf board7.tar.gz
            """)
    @Option(
        help: ArgumentHelp(
            "The new file, or - for standard output; by default latchkey-support-DATE.tar.gz.", valueName: "file"))
    var out: String?
    @Option(help: ArgumentHelp("Settings file (environment: LATCHKEY_CONFIG).", valueName: "path"))
    var config: String?
    @OptionGroup var options: ClientOptions

    func run() async throws {
        let file = SettingsFileOption.file(config)
        let bundle = await ProgressLine.show("collecting") { await SupportBundle(options, settings: file) }
        let now = Date.now
        let archive = bundle.archive(at: now)
        guard out != "-" else { return Terminal.bytes(archive) }
        let name = out ?? "latchkey-support-\(now.formatted(.iso8601).filter { $0.isNumber || $0.isLetter }).tar.gz"
        guard try Output.newFileOrNode(name, archive) else {
            throw InputError.unwritable(name: name, reason: "a file with this name already exists")
        }
        let answer = JSON.object([
            "file": .string(name), "bytes": .integer(Int64(archive.count)),
            "files": .array(bundle.files.map { .string($0.name) }),
        ])
        options.show(answer) { _ in
            "\(name): \(Amount.bytes(Double(archive.count))), secrets masked; read it before you send it"
        }
    }
}
