import AgentCore
import Board
import Vault

/// What is visible of an agent that does not respond, gathered once; the checks themselves query nothing.
struct Installation: Sendable {
    enum Socket: Sendable, Equatable {
        /// Nothing listens at the path.
        case silent
        /// Its mode, or that of a directory above it, does not let this user connect.
        case forbidden
        /// Something listens, and gives no answer; why.
        case mute(String)
    }

    /// The state of the service in systemd.
    struct Unit: Sendable, Equatable {
        var isInstalled = true
        /// `ActiveState`: active, activating, failed, inactive, …
        var activity = "inactive"
        /// `Result` of the last run: success, exit-code, resources, …
        var result = "success"
        /// `ExecMainStatus` of the last run.
        var exitStatus = 0
        var isEnabled = true
        /// `User`.
        var user = ""
        /// Files of `LoadCredentialEncrypted`, by the credential's name.
        var credentials: [String: String] = [:]
        /// Whether systemd does not tell them: version 252 shows `[unprintable]`.
        var hidesCredentials = false
    }

    /// A file or directory, as far as this user may see it.
    enum Entry: Sendable, Equatable {
        case missing
        case hidden
        /// Its owner, by number, and its permission bits.
        case there(owner: UInt32, mode: UInt32)
    }

    /// The holder of the state directory's lock.
    enum Lock: Sendable, Equatable {
        case free
        case hidden
        case held(process: Int32)
    }

    /// The sealed store, as far as it can be examined without its key.
    enum Store: Sendable, Equatable {
        /// Not looked at, and why.
        case skipped(String)
        /// There is none yet.
        case missing
        case faulty(String)
        /// Intact, with these slots.
        case sealed([Slot])
    }

    /// A host that the settings name.
    struct Host: Sendable, Equatable {
        var name: String
        var hasAddress: Bool
    }

    var socketPath: String
    var socket = Socket.silent
    /// Whether there is a file at the socket's path although nothing listens.
    var hasSocketFile = false
    /// `nil` if systemd is not running.
    var unit: Unit?
    /// The settings: their path, their faults, and those settings that can be read.
    var settingsPath = AgentConfiguration.defaultPath
    var settingsFaults: [String] = []
    @Boxed var settings: AgentConfiguration? = nil
    /// The file from which the unit loads the settings' credential; `nil` if the settings name none, or the unit has
    /// none.
    var credentialFile: String?
    var credential = Entry.missing
    var stateDirectory = Entry.missing
    /// Whether the nearest directory above a missing state directory is on a file system that is mounted read-only.
    var isOnReadOnlyDisk = false
    var lock = Lock.free
    /// The findings of checks that the daemon's doctor has too; `nil` if the state directory cannot be looked at.
    @Boxed var state: AgentState? = nil
    var store = Store.skipped("there are no settings")
    /// Why there is no board definition; or what it is.
    var board: Result<String, BoardError>?
    /// Why libraries that are loaded with their first use cannot be used.
    var libraryFaults: [String] = []
    /// The hosts of the settings up to the first without an address.
    var hosts: [Host] = []
    /// The calling user, by number.
    var user: UInt32 = 0
}
