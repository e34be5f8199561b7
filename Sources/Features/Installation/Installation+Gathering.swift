import AgentCore
import Board
import FoundationEssentials
import Glibc
import Groundwork
import Settings

extension Installation {
    /// Examines this machine with the permissions of this user.
    package init(gathering socketPath: String, _ socket: Socket, settingsPath: String?, of features: [any Feature.Type])
    {
        self.init(socketPath: socketPath, socket: socket)
        user = geteuid()
        unit = Self.unit()
        self.settingsPath = settingsPath ?? self.settingsPath
        if case .there = Self.entry(socketPath) { hasSocketFile = socket == .silent }
        libraryFaults = Self.libraryFaults()
        gatherSettings(named: settingsPath, features)
        guard let settings else { return }
        gatherCredential(settings)
        stateDirectory = Self.entry(settings.stateDirectory)
        if stateDirectory == .missing { isOnReadOnlyDisk = Self.isReadOnly(above: settings.stateDirectory) }
        lock = Self.holder(of: "\(settings.stateDirectory)/\(StateDirectory.lockName)")
        gatherState(settings)
        board = Result { () throws(BoardError) in try settings.board.read().definition.title }
        hosts = Self.hosts(of: settings, readBy: features)
    }

    /// Examines only what an agent that answers cannot see itself: its credential belongs to root.
    package init(gatheringCredentialOf settingsPath: String?, _ features: [any Feature.Type]) {
        self.init(socketPath: "")
        unit = Self.unit()
        guard unit != nil else { return }
        gatherSettings(named: settingsPath, features)
        if let settings { gatherCredential(settings) }
    }

    private mutating func gatherCredential(_ settings: AgentConfiguration) {
        credentialFile = unit?.credentials[settings.vault.credential]
        credential = credentialFile.map(Self.entry) ?? .missing
        let content = credentialFile.flatMap { try? BoundedFile.read($0, limit: CredentialHeader.limit) }
        credentialHeader = content.flatMap(CredentialHeader.init)
    }

    private mutating func gatherSettings(named path: String?, _ features: [any Feature.Type]) {
        do {
            let layers = try SettingsLayers.read(path)
            var settings = try AgentConfiguration(layers, of: features)
            settings.placeBySystemd(ProcessInfo.processInfo.environment, of: features)
            self.settings = settings
            settingsFaults = placed(MachineComparison(settings, of: features).faults.map(layers.placed))
        } catch .faults(_, let faults) {
            settingsFaults = placed(faults)
        } catch {
            settingsFaults = [error.message]
        }
    }

    private func placed(_ faults: [SettingsFault]) -> [String] {
        faults.map { SettingsFault.list([$0], main: settingsPath) }
    }

    package static func entry(_ path: String) -> Entry {
        var status = stat()
        guard stat(path, &status) == 0 else { return errno == ENOENT ? .missing : .hidden }
        return .there(owner: status.st_uid, mode: UInt32(status.st_mode) & 0o777)
    }

    private static func isReadOnly(above path: String) -> Bool {
        var path = path
        var status = statvfs()
        while let slash = path.lastIndex(of: "/") {
            path = slash == path.startIndex ? "/" : String(path[..<slash])
            if statvfs(path, &status) == 0 { return status.f_flag & UInt(ST_RDONLY) != 0 }
            if path == "/" { break }
        }
        return false
    }

    // MARK: systemd

    private static func unit() -> Unit? {
        guard access("/run/systemd/system", F_OK) == 0 else { return nil }
        let names = "LoadState,ActiveState,Result,ExecMainStatus,UnitFileState,User,LoadCredentialEncrypted"
        var unit = ShellCommand.output(of: "systemctl show latchkey.service -p \(names) 2>/dev/null", limit: 16_384)
            .flatMap { Unit(shown: $0) }
        if unit?.hidesCredentials == true,
            let files = ShellCommand.output(of: "systemctl cat latchkey.service 2>/dev/null", limit: 65_536)
        {
            unit?.readCredentials(ofFiles: files)
        }
        return unit
    }

    // MARK: The lock

    /// The holder of a lock, by `/proc/locks` (proc(5)): trying the lock would keep it from an agent that is just
    /// starting.
    private static func holder(of path: String) -> Lock {
        var status = stat()
        guard stat(path, &status) == 0 else { return errno == ENOENT ? .free : .hidden }
        guard let locks = try? BoundedFile.read("/proc/locks", limit: 1 << 20) else { return .hidden }
        return lock(on: status.st_ino, in: String(decoding: locks, as: UTF8.self))
    }

    /// - Parameter inode: of the file; its device is not compared, because some file systems show another one there.
    package static func lock(on inode: UInt, in locks: String) -> Lock {
        for line in locks.split(separator: "\n") {
            // 1: FLOCK  ADVISORY  WRITE 4711 fe:01:131 0 EOF
            let words = line.split(separator: " ")
            guard words.count >= 6, words[1] == "FLOCK",
                words[5].split(separator: ":").last == Substring(String(inode)),
                let process = Int32(words[4])
            else { continue }
            return .held(process: process)
        }
        return .free
    }
}

extension Installation.Unit {
    /// - Parameter shown: the output of `systemctl show`: lines `NAME=VALUE`.
    package init?(shown: String) {
        self.init()
        var isKnown = false
        for line in shown.split(separator: "\n") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            let value = String(line[line.index(after: equals)...])
            switch line[..<equals] {
            case "LoadState":
                isKnown = true
                isInstalled = value != "not-found"
            case "ActiveState": activity = value
            case "Result": result = value
            case "ExecMainStatus": exitStatus = Int(value) ?? 0
            case "UnitFileState": isEnabled = value == "enabled"
            case "User": user = value
            case "LoadCredentialEncrypted":
                if value == "[unprintable]" { hidesCredentials = true } else { addCredential(value) }
            default: continue
            }
        }
        guard isKnown else { return nil }
    }

    private mutating func addCredential(_ value: String) {
        guard let colon = value.firstIndex(of: ":") else { return }
        credentials[String(value[..<colon])] = String(value[value.index(after: colon)...])
    }

    /// - Parameter files: the output of `systemctl cat`: the unit and what is dropped in, in the order in which they
    ///   count. An empty value takes back those before it (systemd.exec(5)).
    package mutating func readCredentials(ofFiles files: String) {
        hidesCredentials = false
        for line in files.split(whereSeparator: \.isNewline) {
            let line = line.trimming(while: \.isWhitespace)
            guard let equals = line.firstIndex(of: "="),
                line[..<equals].trimming(while: \.isWhitespace) == "LoadCredentialEncrypted"
            else { continue }
            let value = String(line[line.index(after: equals)...].trimming(while: \.isWhitespace))
            if value.isEmpty { credentials = [:] } else { addCredential(value) }
        }
    }
}
