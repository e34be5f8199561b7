public import Bluetooth
import Board
import FoundationEssentials
import LocalAPI
public import Logging

/// The agent's own settings, from one TOML file; `Config/latchkey.toml` documents every key with its default.
public struct AgentConfiguration: Sendable, Equatable {
    /// The file that is read when none is named.
    public static let defaultPath = "/etc/latchkey/latchkey.toml"
    /// Where the daemon listens, and programs look for it, when nothing else is said.
    public static let defaultSocketPath = LocalClient.standardSocketPath

    /// Where databases live; only the agent may read it.
    public var stateDirectory = "/var/lib/latchkey"
    /// Least level that is logged.
    public var logLevel = Logger.Level.info
    public var vault = VaultSettings()
    public var api = APISettings()
    public var board = BoardSettings()
    public var telemetry = TelemetrySettings()
    public var broker = BrokerSettings()
    public var outbox = OutboxSettings()
    public var gateway = GatewaySettings()
    public var bluetooth = BluetoothSettings()
    public var proximity = ProximitySettings()

    /// The defaults.
    public init() {}
}

/// How the vault is opened.
public struct VaultSettings: Sendable, Equatable {
    public enum Slot: String, Sendable, CaseIterable {
        /// A credential that systemd hands over (`LoadCredentialEncrypted=`).
        case systemdCredential = "systemd-credential"
        /// A passphrase, in a credential or a file of mode 0600.
        case passphrase
        /// A key file beside the vault, for development.
        case developmentKeyFile = "development-key-file"
    }

    /// What opens the vault.
    public var slot = Slot.systemdCredential
    /// Name of the credential below `$CREDENTIALS_DIRECTORY`.
    public var credential = "latchkey-vault"
    /// File of the passphrase; empty: the credential holds it.
    public var passphraseFile = ""
    /// Path of the development key; empty: `vault.key` in the state directory.
    public var developmentKeyFile = ""
}

/// Who may use the local API for what: names of users, `@` and names of groups.
public struct APISettings: Sendable, Equatable {
    /// Path of the Unix socket.
    public var socket = AgentConfiguration.defaultSocketPath
    /// Group that may connect at all; empty: the group that the agent runs as.
    public var group = ""
    /// Who may look: status, sensors, events, messages.
    public var read = ["@latchkey"]
    /// Who may send messages.
    public var publish = ["@latchkey"]
    /// Who may change the board's identity and act in its name.
    public var operate: [String] = []
}

/// Which button, LED and sensors there are.
public struct BoardSettings: Sendable, Equatable {
    /// Name of a file in one of the directories, a path, or `auto`.
    public var definition = "auto"
    /// Searched in order for `NAME.toml`.
    public var directories = ["/etc/latchkey/boards", "/usr/share/latchkey/boards"]
}

/// How readings are published.
public struct TelemetrySettings: Sendable, Equatable {
    /// Whether readings are published at all.
    public var enabled = true
    /// Below the device's own topics.
    public var topic = "telemetry"
    /// Quality of service, 0 to 2.
    public var qos = 1
}

/// Where the broker is, and how the connection to it is kept.
public struct BrokerSettings: Sendable, Equatable {
    /// Empty: the gateway's host.
    public var host = ""
    /// 0: what the gateway's configuration announces (`mas.mqtt-port`), else 8883.
    public var port = 0
    /// Seconds; also the longest that a dead connection goes unnoticed by half.
    public var keepAliveSeconds = 60
    /// Below the device's own topics: `online` or `offline`, retained.
    public var statusTopic = "status"
    /// The first level of all topics after the gateway's prefix.
    public var topicVersion = "2.0"
    /// Most messages that wait for the broker's word at once.
    public var window = 100
}

/// How much may wait for the broker, and for how long.
public struct OutboxSettings: Sendable, Equatable {
    /// Beyond it the oldest telemetry goes, and messages published explicitly are refused.
    public var limitBytes = 64 << 20
    /// What is older goes.
    public var maxAgeHours = 24 * 30
    /// The largest payload that is accepted, in bytes.
    public var payloadLimitBytes = 256 << 10
    /// The largest that a request to the local API can hold: 1 MiB of JSON with the payload in base64.
    public static let greatestPayload = 700 << 10
    /// Whether what is accepted is on disk; else it is in memory and lost with the process.
    public var durable = true
}

/// How the board is registered.
public struct GatewaySettings: Sendable, Equatable {
    /// Name that the board registers with; empty: the host name.
    public var deviceName = ""
    /// The certificate is renewed so many days before it ends.
    public var renewDays = 30

    /// The name that people call this board by.
    var shownDeviceName: String { deviceName.isEmpty ? ProcessInfo.processInfo.hostName : deviceName }
}

/// What carries proximity log-in over Bluetooth.
public struct BluetoothSettings: Sendable, Equatable {
    public var transport = BluetoothChoice.Preference.auto
    /// Such as `hci1`, or an address; empty: the first there is.
    public var adapter = ""
    /// Whether to go by addresses that change (Bluetooth Core 5.4, Vol 3 Part C 10.7); the kernel's transport alone.
    public var isPrivate = false
}

/// How this board lets others log in with its user's session, and how it logs in with theirs.
public struct ProximitySettings: Sendable, Equatable {
    public enum Share: String, Sendable, CaseIterable {
        /// Only when it is asked to, by `latchkey share`.
        case never
        /// Also for some minutes after each press of the button.
        case button
        /// For as long as a user is logged in.
        case always
    }

    public var share = Share.never
    /// For how long a press of the button shares.
    public var shareMinutes = 10
    /// How long a question waits for consent; then it is refused.
    public var consentSeconds = 30
    /// Most requests of one device in a minute.
    public var requestsPerMinute = 6
    /// The weakest signal that is answered, in dBm; 0: what the gateway's configuration says.
    public var leastSignal = 0
    /// Whether only bonded devices may ask, over an encrypted link. The reference clients bond with nobody.
    public var requireEncryption = false
}
