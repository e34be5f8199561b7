import Bluetooth
import Board
import Connectivity
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient
import Messaging
import Proximity
import Vault

/// The input of the health checks, gathered once; the checks themselves query nothing.
struct AgentState: Sendable {
    struct Broker: Sendable {
        var address: String
        var isConnected: Bool
        var lastError: (any Explained)?
        /// Errors that it has reported since the start.
        var reports = 0
        var lastReport: BrokerReport?
        /// Why messages for inboxes are left to it.
        var inboxFault: MessagingError?
        /// The proxy through which requests to its host go, which MQTT does not use.
        var proxy: ForwardProxy?
    }

    /// An account other than the default one.
    struct OtherAccount: Sendable {
        var name: String
        var registration: GatewayStatus.Registration
        var certificateEnd: Date?
        var lastError: GatewayError?
    }

    struct Outbox: Sendable {
        var depth: Int
        var dropped: Int
        var deadLetters = 0
        /// How long the oldest message has waited, in seconds; `nil` when none waits.
        var oldestAge: TimeInterval?
    }

    var now: Date
    var clockIsPlausible: Bool
    /// The file of the newest confirmed time.
    var clockFile = ""
    var vaultSlot: Slot.Kind?
    var vaultFaults: [VaultError] = []
    var network = NetworkMonitor.State.unknown(nil)
    /// `nil` when no gateway is active.
    var gatewayHost: String?
    /// The gateway's answer to a request that needs no registration: an HTTP status, or why there was none.
    var probe: Result<Int, HTTPError>?
    var certificateEnd: Date?
    var renewDays: Int
    var otherAccounts: [OtherAccount] = []
    /// The first account whose stored records cannot be used, the default one included, and why.
    var unusableAccount: (name: String, fault: Explanation)?
    var broker: Broker?
    var outbox: Outbox?
    /// Why the outbox cannot be opened.
    var outboxFault: MessagingError?
    /// What is wrong with the disk of the state directory.
    var diskTrouble: String?
    /// Databases that were set aside as damaged and are still in the state directory.
    var setAside: [String] = []
    /// Why there is no board definition.
    var boardFault: BoardError?
    var sensorCount = 0
    /// Optional sensors that have not responded since the start.
    var absentSensorCount = 0
    var failingSensors: [SensorPoller.Failure] = []
    var lineCount = 0
    var linesAreSimulated = false
    var lineFaults: [BoardError] = []
    /// `nil` if no setting needs Bluetooth and there is no adapter.
    var adapter: AdapterStatus?
    var sharing = ProximitySettings.Share.never
    /// Whether only bonded devices may ask to be let in.
    var requiresEncryption = false
    /// Whether bluetoothd lets a bonded device that connects to this board become its keyboard.
    var takesKeyboards = false
    var hasButton = false
    var buttonFault: ButtonFault?
    /// Findings of features without a member of their own here, by a name that the feature chooses.
    var found: [String: JSON] = [:]
}
