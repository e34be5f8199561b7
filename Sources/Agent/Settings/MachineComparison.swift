import AgentCore
import Board
import Glibc
import Groundwork
import LocalAPI
import Settings

/// Finds what the settings name and this machine lacks: `latchkey run` would refuse to start, or do without it.
struct MachineComparison {
    /// What keeps the agent from starting, or from doing what the settings ask for.
    private(set) var faults: [SettingsFault] = []
    /// What may be correct, or cannot be checked by this user.
    private(set) var notices: [SettingsFault] = []

    private let configuration: AgentConfiguration

    init(_ configuration: AgentConfiguration, machine: Machine = Machine()) {
        self.configuration = configuration
        compareStateDirectory()
        compareVault()
        compareSocket("api.socket", configuration.api.socket)
        compareProxy()
        comparePeers()
        compareBoard(machine)
        compareAdapter()
        compareConsole()
        compareDefaultDocument()
        compareMetrics()
    }

    private mutating func fail(_ keyPath: String, _ fault: String, fix: String) {
        faults.append(SettingsFault(keyPath: keyPath, fault: fault, fix: fix))
    }

    private mutating func note(_ keyPath: String, _ fault: String, fix: String) {
        notices.append(SettingsFault(keyPath: keyPath, fault: fault, fix: fix))
    }

    // MARK: Directories and files

    private enum Found {
        case missing
        /// Why the path cannot be examined.
        case hidden(String)
        case there(stat)
    }

    private static func look(at path: String) -> Found {
        var status = stat()
        guard stat(path, &status) != 0 else { return .there(status) }
        return errno == ENOENT || errno == ENOTDIR ? .missing : .hidden(String(cString: strerror(errno)))
    }

    private static func directory(of path: String) -> String {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    private mutating func compareStateDirectory() {
        let (key, path) = ("agent.state_directory", configuration.stateDirectory)
        switch Self.look(at: path) {
        case .there(let status) where status.st_mode & S_IFMT != S_IFDIR:
            fail(key, "\(path) is not a directory", fix: "name another")
        case .there(let status) where status.st_mode & 0o077 != 0:
            fail(key, "others may look into \(path)", fix: "run: chmod 700 \(path)")
        case .there: break
        case .hidden(let reason): note(key, "\(path) cannot be looked at: \(reason)", fix: "check again as root")
        case .missing:
            // The agent creates this directory, but not its parent.
            guard case .missing = Self.look(at: Self.directory(of: path)) else { return }
            fail(key, "\(Self.directory(of: path)) does not exist", fix: "make it, or name another directory")
        }
    }

    private mutating func compareVault() {
        let vault = configuration.vault
        switch vault.slot {
        // Its content comes from systemd, with the service.
        case .systemdCredential: break
        case .passphrase where vault.passphraseFile.isEmpty: break
        case .passphrase:
            compareKeyFile("vault.passphrase_file", vault.passphraseFile, isMadeWhenMissing: false)
        case .developmentKeyFile where vault.developmentKeyFile.isEmpty: break
        case .developmentKeyFile:
            compareKeyFile("vault.development_key_file", vault.developmentKeyFile, isMadeWhenMissing: true)
        }
    }

    private mutating func compareKeyFile(_ key: String, _ path: String, isMadeWhenMissing: Bool) {
        switch Self.look(at: path) {
        case .there(let status) where status.st_mode & S_IFMT != S_IFREG:
            fail(key, "\(path) is not a regular file", fix: "name another")
        case .there(let status) where status.st_mode & 0o077 != 0:
            fail(key, "others may read \(path)", fix: "run: chmod 600 \(path)")
        case .there(let status) where status.st_size == 0: fail(key, "\(path) is empty", fix: "write the key into it")
        case .there: break
        case .hidden(let reason): note(key, "\(path) cannot be looked at: \(reason)", fix: "check again as root")
        case .missing where isMadeWhenMissing:
            guard case .missing = Self.look(at: Self.directory(of: path)) else { return }
            fail(key, "\(Self.directory(of: path)) does not exist", fix: "make it, or name another file")
        case .missing: fail(key, "\(path) does not exist", fix: "make it with mode 0600, or name another")
        }
    }

    /// The most bytes of a socket's path: `sun_path` of unix(7) with its end.
    private static let socketPathLimit = 107

    private mutating func compareProxy() {
        guard configuration[ProxyFeature.enabled] else { return }
        let (key, path) = (ProxyFeature.socket.keyPath, configuration[ProxyFeature.socket])
        guard path != configuration.api.socket else {
            return fail(key, "is api.socket too", fix: "name another")
        }
        let directory = Self.directory(of: path)
        // Where both sockets are in one directory, one fault is enough.
        guard directory != Self.directory(of: configuration.api.socket) || path.utf8.count > Self.socketPathLimit
        else { return }
        compareSocket(key, path)
    }

    private mutating func compareSocket(_ key: String, _ path: String) {
        guard path.utf8.count <= Self.socketPathLimit else {
            return fail(key, "has \(path.utf8.count) bytes", fix: "name one of at most \(Self.socketPathLimit)")
        }
        let directory = Self.directory(of: path)
        guard case .missing = Self.look(at: directory) else { return }
        // Directories that systemd creates with the service do not exist before.
        guard !path.hasPrefix("/run/") else {
            if path != AgentConfiguration.defaultSocketPath {
                note(key, "\(directory) does not exist", fix: "have systemd make it: RuntimeDirectory= of the unit")
            }
            return
        }
        fail(key, "\(directory) does not exist", fix: "make it, or name another")
    }

    private mutating func compareConsole() {
        let (key, path) = (ConsoleFeature.styleSheet.keyPath, configuration[ConsoleFeature.styleSheet])
        guard !path.isEmpty, case .missing = Self.look(at: path) else { return }
        fail(key, "\(path) does not exist", fix: "make it, or leave the key out")
    }

    private mutating func compareDefaultDocument() {
        let (key, path) = (GatewayFeature.defaultDocument.keyPath, configuration[GatewayFeature.defaultDocument])
        guard !path.isEmpty, case .missing = Self.look(at: path) else { return }
        fail(key, "\(path) does not exist", fix: "put a gateway's msso_config.json there, or leave the key out")
    }

    private mutating func compareMetrics() {
        guard !configuration[MetricsFeature.listen].isEmpty else { return }
        let path = configuration[MetricsFeature.tokenFile]
        if !path.isEmpty { compareKeyFile(MetricsFeature.tokenFile.keyPath, path, isMadeWhenMissing: false) }
        let user = configuration[MetricsFeature.user]
        guard !user.isEmpty, !AccessPolicy.knows(user) else { return }
        fail(
            MetricsFeature.user.keyPath, "this machine does not know \(user)",
            fix: "write a user's name that getent(1) finds")
    }

    // MARK: People, board, radio

    private mutating func comparePeers() {
        let api = configuration.api
        for (key, names) in [("api.read", api.read), ("api.publish", api.publish), ("api.operate", api.operate)] {
            for (index, name) in names.enumerated() where !AccessPolicy.knows(name) {
                fail(
                    "\(key)[\(index)]", "this machine does not know \(name)",
                    fix: "write a user's name, or @ and a group's name, that getent(1) finds")
            }
        }
        if !api.group.isEmpty, !AccessPolicy.knows("@\(api.group)") {
            fail(
                "api.group", "this machine does not know the group \(api.group)",
                fix: "write a group's name that getent(1) finds")
        }
        comparePrograms()
    }

    private mutating func comparePrograms() {
        let programs = configuration.grants.enumerated().flatMap { index, grant in
            [
                ("grants[\(index)].user", grant.user),
                ("grants[\(index)].group", grant.group.isEmpty ? "" : "@\(grant.group)"),
            ]
        }
        let group = configuration[ProxyFeature.group]
        for (key, name) in programs + [("proxy.group", group.isEmpty ? "" : "@\(group)")]
        where !name.isEmpty && !AccessPolicy.knows(name) {
            fail(key, "this machine does not know \(name)", fix: "write a name that getent(1) finds")
        }
    }

    private mutating func compareBoard(_ machine: Machine) {
        let key = "board.definition"
        do throws(BoardError) {
            for fault in try configuration.board.read(on: machine).faults {
                note(key, fault.message, fix: fault.remedy ?? "fix or remove it")
            }
        } catch {
            let fix = error.remedy ?? "name another"
            // The settings do not ask for this definition by name.
            if configuration.board.definition == "auto" {
                note(key, error.message, fix: fix)
            } else {
                fail(key, error.message, fix: fix)
            }
        }
    }

    private mutating func compareAdapter() {
        let name = configuration.bluetooth.adapter
        // The kernel knows an address only after it has queried the adapter.
        guard name.hasPrefix("hci"), case .missing = Self.look(at: "/sys/class/bluetooth/\(name)") else { return }
        fail(
            "bluetooth.adapter", "there is no Bluetooth adapter \(name)",
            fix: "plug it in, name another, or leave it empty for the first there is")
    }
}
