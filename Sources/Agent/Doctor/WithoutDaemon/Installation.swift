/// What can be seen of an agent that does not answer, gathered once; the checks themselves look at nothing.
struct Installation: Sendable {
    enum Socket: Sendable, Equatable {
        /// Nothing listens at the path.
        case silent
        /// Its mode, or that of a directory above it, does not let this user connect.
        case forbidden
    }

    /// What systemd says of the service.
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
    }

    /// A file or directory, as far as this user may see it.
    enum Entry: Sendable, Equatable {
        case missing
        case hidden
        /// Its owner, by number, and its permission bits.
        case there(owner: UInt32, mode: UInt32)
    }

    /// Who holds the lock of the state directory.
    enum Lock: Sendable, Equatable {
        case free
        case hidden
        case held(process: Int32)
    }

    var socketPath: String
    var socket = Socket.silent
    /// `nil` where systemd does not run.
    var unit: Unit?
    /// Of the settings: where they are, and what is wrong with them; those of the settings that can be read.
    var settingsPath = AgentConfiguration.defaultPath
    var settingsFaults: [String] = []
    var settings: AgentConfiguration?
    /// Where the unit takes the credential that the settings name from; `nil` where they name none, or it has none.
    var credentialFile: String?
    var credential = Entry.missing
    var stateDirectory = Entry.missing
    var lock = Lock.free
    /// The user who asks, by number.
    var user: UInt32 = 0
}
