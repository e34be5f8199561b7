public import Bluetooth
import Board
public import Cryptography
import FoundationEssentials
import Gateway
import Groundwork
import LocalAPI
public import Logging

/// The agent's own settings, from one TOML file; `Config/latchkey.toml` documents every key with its default.
public struct AgentConfiguration: Sendable, Equatable {
    /// The file that is read if none is named.
    public static let defaultPath = "/etc/latchkey/latchkey.toml"
    /// The socket on which the daemon listens and programs connect unless set otherwise.
    public static let defaultSocketPath = LocalClient.standardSocketPath

    /// The directory of the databases; only the agent may read it.
    public var stateDirectory = "/var/lib/latchkey"
    /// The lowest level that is logged.
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
    /// Hosts beside the gateways that may be called.
    var hosts: [HostSecurity] = []
    /// Brokers beside the gateway's.
    var brokers: [NamedBrokerSettings] = []
    /// Standing subscriptions.
    var inboxes: [InboxSettings] = []
    /// Commands that messages start.
    var actions: [ActionSettings] = []
    /// What local programs may do in the name of the board or its user.
    var grants: [GrantSettings] = []
    /// The features' own settings, by key path; see ``Setting``.
    var ofFeatures: [String: JSON] = [:]

    /// The defaults.
    public init() {}
}

/// How the vault is opened.
public struct VaultSettings: Sendable, Equatable {
    public enum Slot: String, Sendable, CaseIterable {
        /// A credential that systemd provides (`LoadCredentialEncrypted=`).
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
    /// Who may read status, sensors, events and messages.
    public var read = ["@latchkey"]
    /// Who may send messages.
    public var publish = ["@latchkey"]
    /// Who may change the board's identity and act in its name.
    public var operate: [String] = []
}

/// The board's button, LED and sensors.
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
    /// The topic, below the device's own topics.
    public var topic = "telemetry"
    /// Quality of service, 0 to 2.
    public var qos = 1
}

/// Where the broker is, and how the connection to it is kept.
public struct BrokerSettings: Sendable, Equatable {
    /// The account whose registration is used at the broker, and to which the outbox belongs.
    public var account = AccountName.gateway.text
    /// Empty: the gateway's host.
    public var host = ""
    /// 0: what the gateway's configuration announces (`mas.mqtt-port`), else 8883.
    public var port = 0
    /// In seconds; the broker waits one and a half times as long before it gives up a silent connection.
    public var keepAliveSeconds = 60
    /// The protocol that TLS names to the server (ALPN, RFC 7301); empty: none.
    public var alpn = ""
    /// Below the device's own topics: `online` or `offline`.
    public var statusTopic = "status"
    public var presence = Presence.retained
    /// The first level of all topics after the gateway's prefix.
    public var topicVersion = "2.0"
    /// The most messages that await the broker's acknowledgement at once.
    public var window = 100
    /// The client identifier, user name and password of the board's own connection; names in braces stand for what the
    /// registration knows (``LogInTemplate``).
    public var clientID = "{mag-identifier}::{client}"
    public var userName = "{device}"
    public var password = "{token}"
    /// Whether the logged-in user has a connection too.
    public var userConnection = true
    /// Whether the broker's reports of errors are subscribed to (MAG 9.2).
    public var reportsErrors = true

    /// How the board says at the broker whether it is there.
    public enum Presence: String, Sendable, CaseIterable {
        case retained
        /// For brokers that take no retained messages.
        case unretained
        /// Not at all, not even by a last will.
        case off
    }
}

/// How much may wait for the broker, and for how long.
public struct OutboxSettings: Sendable, Equatable {
    /// Beyond this the oldest telemetry is dropped, and messages published explicitly are refused.
    public var limitBytes = 64 << 20
    /// Older messages are dropped.
    public var maxAgeHours = 24 * 30
    /// The largest payload that is accepted, in bytes.
    public var payloadLimitBytes = 256 << 10
    /// The largest payload that a request to the local API can hold: 1 MiB of JSON with the payload in base64.
    public static let greatestPayload = 700 << 10
    /// Whether what the broker does not have is written to the disk; otherwise it is in memory and lost with the
    /// process.
    public var durable = true
    /// How long the broker may take to acknowledge a message before it is written to the disk; 0: written at once.
    public var spillMilliseconds = 250
    /// How long readings may stay in memory while there is no broker; 0: written at once.
    public var flushSeconds = 5
}

/// How the board is registered.
public struct GatewaySettings: Sendable, Equatable {
    /// Name that the board registers with; empty: the host name.
    public var deviceName = ""
    /// The certificate is renewed this many days before it expires.
    public var renewDays = 30
    /// How the certificates of gateways and their brokers must name them.
    public var nameCheck = ServerTrust.NameCheck.strict
    /// The board's telephone number, which calls may say; empty: none.
    public var telephoneNumber = ""

    /// The name that people call this board by.
    var shownDeviceName: String { deviceName.isEmpty ? ProcessInfo.processInfo.hostName : deviceName }
}

/// The Bluetooth adapter for proximity login.
public struct BluetoothSettings: Sendable, Equatable {
    public var transport = BluetoothChoice.Preference.auto
    /// Such as `hci1`, or an address; empty: the first one.
    public var adapter = ""
    /// Whether to use addresses that change (Bluetooth Core 5.4, Vol 3 Part C 10.7); only with the kernel's transport.
    public var isPrivate = false
}

/// How this board lets others log in with its user's session, and how it logs in with theirs.
public struct ProximitySettings: Sendable, Equatable {
    public enum Share: String, Sendable, CaseIterable {
        /// Only on request, by `latchkey share`.
        case never
        /// Also for some minutes after each press of the button.
        case button
        /// For as long as a user is logged in.
        case always
    }

    public var share = Share.never
    /// How long sharing lasts after a press of the button.
    public var shareMinutes = 10
    /// How long a question waits for consent; then it is refused.
    public var consentSeconds = 30
    /// The most requests of one device per minute.
    public var requestsPerMinute = 6
    /// The weakest signal that is answered, in dBm; 0: the value of the gateway's configuration.
    public var leastSignal = 0
    /// Whether only bonded devices may ask, over an encrypted link. The reference clients never bond.
    public var requireEncryption = false
}
