import AgentCore
import FoundationEssentials
import Glibc
import Groundwork

/// How bluetoothd treats devices that connect to this board, by its settings file and its command line (BlueZ 5.66,
/// `main.conf` and `bluetoothd(8)`). Both are read as GLib reads them: values that bluetoothd would not accept are
/// ignored.
package struct BluetoothDaemonSettings: Equatable {
    /// Whether it reads the services of a device that has connected to this board, and uses them.
    package private(set) var looksAtCentrals = true
    /// Whether it has the plugin that accepts input from a bonded device (HID over GATT).
    package private(set) var takesInput = true
    /// Whether a bonded device that connects to this board can become its keyboard.
    package var takesKeyboards: Bool { looksAtCentrals && takesInput }
    /// The settings file that the command line names.
    package private(set) var file = "/etc/bluetooth/main.conf"

    /// - Parameter arguments: its command line, without its own name.
    package init(arguments: [String] = []) {
        var plugins: String?
        var excluded = ""
        for (name, value) in Self.options(in: arguments) {
            switch name {
            case "p", "plugin": plugins = value
            case "P", "noplugin": excluded = value
            case "f", "configfile": file = value
            default: break
            }
        }
        takesInput = !Self.names("hog", in: excluded) && plugins.map { Self.names("hog", in: $0) } ?? true
    }

    /// Applies the text of the settings file. One line that is neither a section, a setting nor a comment makes
    /// bluetoothd ignore the whole file.
    package mutating func apply(_ text: String) {
        var section: Substring?
        var looks = true
        for line in text.split(whereSeparator: \.isNewline).map({ $0.trimming(while: \.isWhitespace) })
        where !line.isEmpty && line.first != "#" {
            if line.hasPrefix("["), line.hasSuffix("]") {
                section = line
                continue
            }
            guard section != nil, let sign = line.firstIndex(of: "=") else { return }
            let name = line[..<sign].trimming(while: \.isWhitespace)
            guard section == "[General]", name == "ReverseServiceDiscovery" else { continue }
            looks = !["false", "0"].contains(line[line.index(after: sign)...].trimming(while: \.isWhitespace))
        }
        looksAtCentrals = looks
    }

    // MARK: The command line

    /// Options that take a value, in the forms that GLib knows: `-P x`, `-Px`, `--noplugin x`, `--noplugin=x`.
    private static func options(in arguments: [String]) -> [(name: String, value: String)] {
        let long = ["plugin", "noplugin", "configfile"]
        var options: [(String, String)] = []
        var rest = arguments[...]
        while let argument = rest.popFirst(), argument != "--" {
            if argument.hasPrefix("--") {
                let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                    .map(String.init)
                guard long.contains(parts[0]), let value = parts.count > 1 ? parts[1] : rest.popFirst() else {
                    continue
                }
                options.append((parts[0], value))
            } else if argument.hasPrefix("-") {
                // Letters without a value may precede the one that has it.
                guard let letter = argument.firstIndex(where: { "pPfdEK".contains($0) }),
                    "pPf".contains(argument[letter])
                else { continue }
                let joined = String(argument[argument.index(after: letter)...])
                guard let value = joined.isEmpty ? rest.popFirst() : joined else { continue }
                options.append((String(argument[letter]), value))
            }
        }
        return options
    }

    /// Whether one of the patterns of a list matches this plugin.
    private static func names(_ plugin: String, in list: String) -> Bool {
        list.split(whereSeparator: { ", ".contains($0) }).contains { pattern in
            // GLib's patterns have no brackets.
            !pattern.contains("[") && fnmatch(String(pattern), plugin, FNM_NOESCAPE) == 0
        }
    }
}

extension BluetoothDaemonSettings {
    /// The settings of the running bluetoothd. Its command line counts if this process may see it, and the defaults if
    /// the file cannot be read.
    package static func read() -> BluetoothDaemonSettings {
        var settings = BluetoothDaemonSettings(arguments: arguments() ?? [])
        if let text = try? BoundedFile.read(settings.file, limit: 1 << 16) {
            settings.apply(String(decoding: text, as: UTF8.self))
        }
        return settings
    }

    /// The arguments of the process called bluetoothd. Its real user must be root too: anyone can give a process this
    /// name, even one that runs as root by means of a setuid program.
    private static func arguments() -> [String]? {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        for process in processes where Int32(process) != nil {
            guard let status = try? BoundedFile.read("/proc/\(process)/status", limit: 1 << 14) else { continue }
            let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
            guard lines.first == "Name:\tbluetoothd", lines.contains("Uid:\t0\t0\t0\t0"),
                let line = try? BoundedFile.read("/proc/\(process)/cmdline", limit: 4096)
            else { continue }
            return line.split(separator: 0).dropFirst().map { String(decoding: $0, as: UTF8.self) }
        }
        return nil
    }
}
