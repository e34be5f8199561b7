import Board
import Glibc
import Groundwork
import LocalAPI
import Settings

/// Finds what the settings name and this machine lacks: `latchkey run` would refuse to start, or do without it.
package struct MachineComparison {
    /// What keeps the agent from starting, or from doing what the settings ask for.
    package private(set) var faults: [SettingsFault] = []
    /// What may be correct, or cannot be checked by this user.
    package private(set) var notices: [SettingsFault] = []

    package let configuration: AgentConfiguration
    package let machine: Machine

    package init(_ configuration: AgentConfiguration, machine: Machine = Machine(), of features: [any Feature.Type]) {
        self.configuration = configuration
        self.machine = machine
        compareStateDirectory()
        compareVault()
        compareSocket("api.socket", configuration.api.socket)
        comparePeers()
        for feature in features { feature.compare(with: &self) }
    }

    package mutating func fail(_ keyPath: String, _ fault: String, fix: String) {
        faults.append(SettingsFault(keyPath: keyPath, fault: fault, fix: fix))
    }

    package mutating func note(_ keyPath: String, _ fault: String, fix: String) {
        notices.append(SettingsFault(keyPath: keyPath, fault: fault, fix: fix))
    }

    // MARK: Directories and files

    package enum Found {
        case missing
        /// Why the path cannot be examined.
        case hidden(String)
        case there(stat)
    }

    package static func look(at path: String) -> Found {
        var status = stat()
        guard stat(path, &status) != 0 else { return .there(status) }
        return errno == ENOENT || errno == ENOTDIR ? .missing : .hidden(String(cString: strerror(errno)))
    }

    package static func directory(of path: String) -> String {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    private mutating func compareStateDirectory() {
        let (key, path) = ("agent.state_directory", configuration.stateDirectory)
        switch Self.look(at: path) {
        case .there(let status) where status.st_mode & S_IFMT != S_IFDIR:
            fail(key, "\(path) is not a directory", fix: "name another")
        case .there(let status) where status.st_mode & 0o077 != 0:
            fail(key, "other users may read \(path)", fix: "run: chmod 700 \(path)")
        case .there: break
        case .hidden(let reason): note(key, "cannot inspect \(path): \(reason)", fix: "check again as root")
        case .missing:
            // The agent creates this directory, but not its parent.
            guard case .missing = Self.look(at: Self.directory(of: path)) else { return }
            fail(key, "\(Self.directory(of: path)) does not exist", fix: "make it, or name another directory")
        }
    }

    private mutating func compareVault() {
        let vault = configuration.vault
        for slot in vault.slots {
            switch slot {
            // The content of the first comes from systemd, with the service; hardware is asked when the agent starts.
            case .systemdCredential, .tpm, .pkcs11: break
            case .passphrase where vault.passphraseFile.isEmpty: break
            case .passphrase:
                compareKeyFile("vault.passphrase_file", vault.passphraseFile, isMadeWhenMissing: false)
            case .developmentKeyFile where vault.developmentKeyFile.isEmpty: break
            case .developmentKeyFile:
                compareKeyFile("vault.development_key_file", vault.developmentKeyFile, isMadeWhenMissing: true)
            }
        }
    }

    package mutating func compareKeyFile(_ key: String, _ path: String, isMadeWhenMissing: Bool) {
        switch Self.look(at: path) {
        case .there(let status) where status.st_mode & S_IFMT != S_IFREG:
            fail(key, "\(path) is not a regular file", fix: "name another")
        case .there(let status) where status.st_mode & 0o077 != 0:
            fail(key, "other users may read \(path)", fix: "run: chmod 600 \(path)")
        case .there(let status) where status.st_size == 0: fail(key, "\(path) is empty", fix: "write the key into it")
        case .there: break
        case .hidden(let reason): note(key, "cannot inspect \(path): \(reason)", fix: "check again as root")
        case .missing where isMadeWhenMissing:
            guard case .missing = Self.look(at: Self.directory(of: path)) else { return }
            fail(key, "\(Self.directory(of: path)) does not exist", fix: "make it, or name another file")
        case .missing: fail(key, "\(path) does not exist", fix: "make it with mode 0600, or name another")
        }
    }

    /// The most bytes of a socket's path: `sun_path` of unix(7) with its end.
    package static let socketPathLimit = 107

    package mutating func compareSocket(_ key: String, _ path: String) {
        guard path.utf8.count <= Self.socketPathLimit else {
            return fail(
                key, "has \(path.utf8.count) bytes", fix: "name a path of at most \(Self.socketPathLimit) bytes")
        }
        let directory = Self.directory(of: path)
        guard case .missing = Self.look(at: directory) else { return }
        // Directories that systemd creates with the service do not exist before.
        guard !path.hasPrefix("/run/") else {
            if path != AgentConfiguration.defaultSocketPath {
                note(key, "\(directory) does not exist", fix: "let systemd make it: RuntimeDirectory= in the unit")
            }
            return
        }
        fail(key, "\(directory) does not exist", fix: "make it, or name another")
    }

    // MARK: People

    private mutating func comparePeers() {
        let api = configuration.api
        for (key, names) in [("api.read", api.read), ("api.publish", api.publish), ("api.operate", api.operate)] {
            for (index, name) in names.enumerated() where !AccessPolicy.knows(name) {
                fail(
                    "\(key)[\(index)]", "\(name) does not exist on this machine",
                    fix: "write a user's name, or @ and a group's name, that getent(1) finds")
            }
        }
        if !api.group.isEmpty, !AccessPolicy.knows("@\(api.group)") {
            fail(
                "api.group", "the group \(api.group) does not exist on this machine",
                fix: "write a group's name that getent(1) finds")
        }
    }
}
