import AgentCore
import Bluetooth
import Board
import Connectivity
import FoundationEssentials
import Gateway
import Groundwork
import HTTPClient
import Messaging
import Proximity

/// What is found of the gateways.
struct GatewayFindings: Sendable {
    /// An account other than the default one.
    struct OtherAccount: Sendable {
        var name: String
        var registration: GatewayStatus.Registration
        var certificateEnd: Date?
        var lastError: GatewayError?
    }

    /// `nil` when no gateway is active.
    var host: String?
    /// The gateway's answer to a request that needs no registration: an HTTP status, or why there was none.
    var probe: Result<Int, HTTPError>?
    var certificateEnd: Date?
    var renewDays = 30
    var otherAccounts: [OtherAccount] = []
    /// The first account whose stored records cannot be used, the default one included, and why.
    var unusableAccount: (name: String, fault: Explanation)?
}

/// What is found of the broker and the outbox.
struct MessagesFindings: Sendable {
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

    struct Outbox: Sendable {
        var depth: Int
        var dropped: Int
        var deadLetters = 0
        /// How long the oldest message has waited, in seconds; `nil` when none waits.
        var oldestAge: TimeInterval?
    }

    var broker: Broker?
    var outbox: Outbox?
    /// Why the outbox cannot be opened.
    var outboxFault: MessagingError?
}

/// What is found of the board's parts.
struct BoardFindings: Sendable {
    /// Why there is no board definition.
    var fault: BoardError?
    var sensorCount = 0
    /// Optional sensors that have not responded since the start.
    var absentSensorCount = 0
    var failingSensors: [SensorPoller.Failure] = []
    var lineCount = 0
    var linesAreSimulated = false
    var lineFaults: [BoardError] = []
}

/// What is found of Bluetooth, and of what consent is given with.
struct NearbyFindings: Sendable {
    /// `nil` if no setting needs Bluetooth and there is no adapter.
    var adapter: AdapterStatus?
    var sharing = ProximitySettings.Share.never
    /// Whether only bonded devices may ask to be let in.
    var requiresEncryption = false
    /// Whether bluetoothd lets a bonded device that connects to this board become its keyboard.
    var takesKeyboards = false
    var hasButton = false
    var buttonFault: ButtonFault?
}

extension AgentState {
    var gateway: GatewayFindings {
        get { self[GatewayFindings.self, default: GatewayFindings()] }
        set { self[GatewayFindings.self, default: GatewayFindings()] = newValue }
    }
    var messages: MessagesFindings {
        get { self[MessagesFindings.self, default: MessagesFindings()] }
        set { self[MessagesFindings.self, default: MessagesFindings()] = newValue }
    }
    var board: BoardFindings {
        get { self[BoardFindings.self, default: BoardFindings()] }
        set { self[BoardFindings.self, default: BoardFindings()] = newValue }
    }
    var nearby: NearbyFindings {
        get { self[NearbyFindings.self, default: NearbyFindings()] }
        set { self[NearbyFindings.self, default: NearbyFindings()] = newValue }
    }
    var network: NetworkMonitor.State {
        get { self[NetworkMonitor.State.self, default: .unknown(nil)] }
        set { self[NetworkMonitor.State.self, default: .unknown(nil)] = newValue }
    }
}
