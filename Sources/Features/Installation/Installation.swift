import AgentCore
import Board
import Vault

/// What is visible of an agent that does not respond, gathered once; the checks themselves query nothing.
package struct Installation: Sendable {
    package enum Socket: Sendable, Equatable {
        /// Nothing listens at the path.
        case silent
        /// Its mode, or that of a directory above it, does not let this user connect.
        case forbidden
        /// Something listens, and gives no answer; why.
        case mute(String)
    }

    /// The state of the service in systemd.
    package struct Unit: Sendable, Equatable {
        package var isInstalled = true
        /// `ActiveState`: active, activating, failed, inactive, …
        package var activity = "inactive"
        /// `Result` of the last run: success, exit-code, resources, …
        package var result = "success"
        /// `ExecMainStatus` of the last run.
        package var exitStatus = 0
        package var isEnabled = true
        /// `User`.
        package var user = ""
        /// Files of `LoadCredentialEncrypted`, by the credential's name.
        package var credentials: [String: String] = [:]
        /// Whether systemd does not tell them: version 252 shows `[unprintable]`.
        package var hidesCredentials = false
    }

    /// A file or directory, as far as this user may see it.
    package enum Entry: Sendable, Equatable {
        case missing
        case hidden
        /// Its owner, by number, and its permission bits.
        case there(owner: UInt32, mode: UInt32)
    }

    /// The holder of the state directory's lock.
    package enum Lock: Sendable, Equatable {
        case free
        case hidden
        case held(process: Int32)
    }

    /// The sealed store, as far as it can be examined without its key.
    package enum Store: Sendable, Equatable {
        /// Not looked at, and why.
        case skipped(String)
        /// There is none yet.
        case missing
        case faulty(String)
        /// Intact, with these slots.
        case sealed([Slot])
    }

    /// A host that the settings name.
    package struct Host: Sendable, Equatable {
        package var name: String
        package var hasAddress: Bool
    }

    package var socketPath: String
    package var socket = Socket.silent
    /// Whether there is a file at the socket's path although nothing listens.
    package var hasSocketFile = false
    /// `nil` if systemd is not running.
    package var unit: Unit?
    /// The settings: their path, their faults, and those settings that can be read.
    package var settingsPath = AgentConfiguration.defaultPath
    package var settingsFaults: [String] = []
    @Boxed package var settings: AgentConfiguration? = nil
    /// The file from which the unit loads the settings' credential; `nil` if the settings name none, or the unit has
    /// none.
    package var credentialFile: String?
    package var credential = Entry.missing
    /// What the file says of itself, if this user may read it: only root may.
    package var credentialHeader: CredentialHeader?
    package var stateDirectory = Entry.missing
    /// Whether the nearest directory above a missing state directory is on a file system that is mounted read-only.
    package var isOnReadOnlyDisk = false
    package var lock = Lock.free
    /// The findings of checks that the daemon's doctor has too; `nil` if the state directory cannot be looked at.
    @Boxed package var state: AgentState? = nil
    package var store = Store.skipped("there are no settings")
    /// Why there is no board definition; or what it is.
    package var board: Result<String, BoardError>?
    /// Why libraries that are loaded with their first use cannot be used.
    package var libraryFaults: [String] = []
    /// The hosts of the settings up to the first without an address.
    package var hosts: [Host] = []
    /// The calling user, by number.
    package var user: UInt32 = 0
}
