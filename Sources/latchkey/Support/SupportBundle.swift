import Agent
import AgentCore
import AgentInstallation
import AgentSettingsFiles
import FoundationEssentials
import Glibc
import Groundwork
import LocalAPI
import Settings

/// What support needs to find a fault of this board: texts, with every secret masked.
struct SupportBundle {
    /// The most bytes of one file.
    private static let limit = 1 << 20

    private(set) var files: [(name: String, text: String)] = []
    /// The board's identifiers, which look like tokens, and the names of settings; they are not secret.
    private var known: Set<String> = []

    /// Asks the daemon, if there is one, and this machine.
    init(_ options: ClientOptions, settings: SettingsFile) async {
        let client = options.client
        known = Set(((try? settings.settings()) ?? []).map(\.keyPath))
        if let status = try? await client.get("/v1/status") {
            known.formUnion(Self.identifiers(in: status))
            add("status.json", status)
        }
        await addDoctor(options, settingsPath: settings.exists ? settings.path : nil)
        if let logs = try? await client.get("/v1/logs") { add("log.txt", Self.lines(of: logs)) }
        add("journal.txt", Self.output(of: "journalctl -u latchkey.service -n 1000 --no-pager -q -o short-iso 2>&1"))
        add(
            "unit.txt",
            Self.output(of: "systemctl show latchkey.service -p \(Self.unitProperties) 2>&1; systemctl --version 2>&1"))
        add("version.json", Version.report)
        addSettings(settings)
        addMachine(settings)
    }

    private static let unitProperties =
        "LoadState,ActiveState,SubState,Result,ExecMainStatus,NRestarts,UnitFileState,User,FragmentPath,DropInPaths,"
        + "ActiveEnterTimestamp,MemoryCurrent"

    /// The archive, of one folder.
    func archive(at time: Date) -> [UInt8] {
        var archive = TarArchive(time: Int(time.timeIntervalSince1970))
        for file in files { archive.add("latchkey-support/\(file.name)", Array(file.text.utf8)) }
        return Gzip.stored(archive.ended)
    }

    private mutating func add(_ name: String, _ text: String) {
        files.append((name, SecretMask(keeping: known).masked(text)))
    }

    private mutating func add(_ name: String, _ json: JSON) { add(name, json.text + "\n") }

    private static func identifiers(in json: JSON) -> Set<String> {
        switch json {
        case .object(let members):
            members.reduce(into: []) { found, member in
                let isIdentifier = ["deviceID", "magIdentifier"].contains(member.key)
                if isIdentifier, let text = member.value.string { found.insert(text) }
                found.formUnion(identifiers(in: member.value))
            }
        case .array(let elements): elements.reduce(into: []) { $0.formUnion(identifiers(in: $1)) }
        default: []
        }
    }

    // MARK: The agent

    private mutating func addDoctor(_ options: ClientOptions, settingsPath: String?) async {
        do {
            add("doctor.json", try await options.client.get("/v1/doctor", timeout: .seconds(90)))
        } catch {
            let report = InstallationDoctor.examine(
                socketPath: options.socketPath, settingsPath: settingsPath, of: Features.all, after: error)
            add("doctor.json", report ?? error.explanation.answer)
        }
    }

    private mutating func addSettings(_ file: SettingsFile) {
        do {
            // Under their keys, which say what is secret.
            add("config.json", SettingsReport.json(try file.settings(), of: file))
        } catch {
            add("config.json", error.explanation.answer)
        }
    }

    private static func lines(of logs: JSON) -> String {
        (logs["entries"]?.array ?? []).map { entry in
            ["time", "level", "service", "text"].compactMap { entry[$0]?.string }.joined(separator: " ") + "\n"
        }.joined()
    }

    // MARK: The machine

    private mutating func addMachine(_ file: SettingsFile) {
        var system = uname().map { "\($0)\n" }.joined()
        for path in ["/etc/os-release", "/proc/device-tree/model", "/proc/uptime", "/proc/loadavg", "/proc/meminfo"] {
            guard let bytes = try? BoundedFile.read(path, limit: Self.limit) else { continue }
            system += "\n\(path):\n\(String(decoding: bytes.filter { $0 != 0 }, as: UTF8.self))"
        }
        add("system.txt", system)
        add("libraries.txt", Self.libraries())
        let directory = (try? AgentConfiguration.load(path: file.exists ? file.path : nil))?.stateDirectory
        if let directory { add("files.txt", Self.listing(of: directory)) }
    }

    private func uname() -> [String] {
        var names = utsname()
        guard Glibc.uname(&names) == 0 else { return [] }
        func text<Field>(_ field: Field) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        // Not the host's name.
        return [text(names.sysname), text(names.release), text(names.version), text(names.machine)]
    }

    /// The files of the libraries that this program runs with.
    private static func libraries() -> String {
        guard let maps = try? BoundedFile.read("/proc/self/maps", limit: limit) else { return "" }
        let paths = String(decoding: maps, as: UTF8.self).split(separator: "\n").compactMap { line in
            line.firstIndex(of: "/").map { String(line[$0...]) }
        }
        return Set(paths).sorted().map { "\($0)\n" }.joined()
    }

    /// Names, sizes, owners and modes of a directory's entries, and the free space of its disk.
    private static func listing(of directory: String) -> String {
        var room = statvfs()
        var text = "\(directory)\n"
        if statvfs(directory, &room) == 0 {
            // File systems that know no number say the largest there is.
            text += "free: \(room.f_bavail &* room.f_frsize >> 10) of \(room.f_blocks &* room.f_frsize >> 10) KiB\n"
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        for name in names.sorted().prefix(1000) {
            var status = stat()
            guard lstat("\(directory)/\(name)", &status) == 0 else { continue }
            let mode = String(status.st_mode, radix: 8)
            text += "\(mode) \(status.st_uid):\(status.st_gid) \(status.st_size) \(status.st_mtim.tv_sec) \(name)\n"
        }
        return text
    }

    /// What a command of the system prints, of constant text. systemd may not answer; its own patience is longer.
    private static func output(of command: String) -> String {
        ShellCommand.output(of: "timeout 30 sh -c '\(command)'", limit: limit) ?? ""
    }
}
