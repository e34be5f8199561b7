import FoundationEssentials
import Groundwork
import LocalAPI
import Logging

/// The agent's own settings, from one TOML file; `Config/latchkey.toml` documents every key with its default.
package struct AgentConfiguration: Sendable, Equatable {
    /// The file that is read if none is named.
    package static let defaultPath = "/etc/latchkey/latchkey.toml"
    /// The socket on which the daemon listens and programs connect unless set otherwise.
    package static let defaultSocketPath = LocalClient.standardSocketPath

    /// The directory of the databases; only the agent may read it.
    package var stateDirectory = "/var/lib/latchkey"
    /// The lowest level that is logged.
    package var logLevel = Logger.Level.info
    /// Name of the board at its servers and for devices nearby; empty: the host name.
    package var deviceName = ""
    package var vault = VaultSettings()
    package var identity = IdentitySettings()
    package var api = APISettings()
    package var board = BoardSettings()
    private var tables = TypedValues()

    /// The settings of a feature as a value of its own; the defaults until they are read.
    ///
    ///     struct GreetingSettings: TypedValue { var text = "Hello" }
    ///     root.table("greeting") { $0.string("text", &configuration[GreetingSettings.self].text, .notEmpty) }
    package subscript<Settings: TypedValue>(type: Settings.Type) -> Settings {
        get { tables[type] }
        set { tables[type] = newValue }
    }

    /// The defaults.
    package init() {}

    /// The name that people call this board by.
    package var shownDeviceName: String { deviceName.isEmpty ? ProcessInfo.processInfo.hostName : deviceName }
}

/// Who may use the local API for what: names of users, `@` and names of groups.
package struct APISettings: Sendable, Equatable {
    /// Path of the Unix socket.
    package var socket = AgentConfiguration.defaultSocketPath
    /// Group that may connect at all; empty: the group that the agent runs as.
    package var group = ""
    /// Who may read status, sensors, events and messages.
    package var read = ["@latchkey"]
    /// Who may send messages.
    package var publish = ["@latchkey"]
    /// Who may change the board's identity and act in its name.
    package var operate: [String] = []
    /// Address and port on which programs with a token are served over TCP; empty: none.
    package var listen = ""
    /// Whether that may be an address that other machines reach.
    package var listensBeyondLoopback = false
    /// Names by which the listener may be asked beside its address.
    package var names: [String] = []
    /// File of the token; empty: the credential holds it.
    package var tokenFile = ""
    /// Name of the credential below `$CREDENTIALS_DIRECTORY`.
    package var tokenCredential = "latchkey-api"
    /// User whose rights programs with the token have; empty: they get the figures alone.
    package var tokenUser = ""
}

/// The board's button, LED and sensors.
package struct BoardSettings: Sendable, Equatable {
    /// Name of a file in one of the directories, a path, or `auto`.
    package var definition = "auto"
    /// Searched in order for `NAME.toml`.
    package var directories = ["/etc/latchkey/boards", "/usr/share/latchkey/boards"]
    /// Whether the board has the sensors of its own health beside those of its definition.
    package var health = true
}
