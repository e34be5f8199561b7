import Bluetooth
import Groundwork

/// When sharing ends by itself.
public enum SharingTerm: Sendable, Equatable {
    /// After one device was authorized.
    case once
    case lasting(Duration)
    case endless
}

/// Why sharing ended.
public enum SharingEnd: String, Sendable {
    case done, expired, requested, cancelled

    public var text: String {
        switch self {
        case .done: "one device was authorized"
        case .expired: "the time is up"
        case .requested: "it was ended here"
        case .cancelled: "the agent stopped it"
        }
    }
}

/// The value notified to the central (MAG 8.2).
public enum SharingAnswer: String, Sendable {
    case authorized = "0"
    case failed = "1"
    case declined = "2"

    var bytes: [UInt8] { Array(rawValue.utf8) }

    public var text: String {
        switch self {
        case .authorized: "authorized"
        case .failed: "failed"
        case .declined: "declined"
        }
    }
}

/// Why a central's connection was ended from here.
public enum HangUpReason: String, Sendable {
    case silent, slow
    case tooLong = "too-long"
    case flooding
    case tooMany = "too-many"
    case finished

    public var text: String {
        switch self {
        case .silent: "it sent nothing"
        case .slow: "its request took too long"
        case .tooLong: "its request was too long"
        case .flooding: "it sent more than it may"
        case .tooMany: "too many devices, or requests, at a time"
        case .finished: "it had its answer and stayed"
        }
    }
}

/// The limits for centrals.
public struct SharingLimits: Sendable {
    /// The maximum time from the first piece of a request to its end.
    public var request = Duration.seconds(30)
    /// The maximum time from the connection to the first piece.
    public var silence = Duration.seconds(30)
    /// The maximum time from an answer to the next piece.
    public var lingering = Duration.seconds(10)
    public var centrals = 8
    public var requestsPerConnection = 5
    public var requestsPerMinute = 6

    /// The time to notify all centrals that sharing ends.
    static let farewell = Duration.seconds(2)
    /// The maximum number of bytes and writes while a request is under consideration.
    static let excess = 256

    public init() {}
}

public struct SharingSettings: Sendable {
    public var service: BluetoothUUID
    public var characteristic: BluetoothUUID
    /// The advertised name, if any.
    public var localName: String?
    /// Whether only bonded centrals may write, which the reference clients do not expect (MAG 8.1).
    public var requiresEncryption = false
    public var limits = SharingLimits()

    public init(service: BluetoothUUID, characteristic: BluetoothUUID) {
        self.service = service
        self.characteristic = characteristic
    }

    /// - Throws: ``ProximityError/invalidUUID(_:)``
    public init(serviceUUID: String, characteristicUUID: String) throws(ProximityError) {
        self.init(
            service: try BluetoothUUID(checking: serviceUUID),
            characteristic: try BluetoothUUID(checking: characteristicUUID))
    }

    /// Supports notify and indicate, because each reference client enables a different one, and writes with and without
    /// response (MAG 8.2).
    var localService: LocalService {
        LocalService(
            uuid: service,
            characteristics: [
                LocalCharacteristic(
                    uuid: characteristic, properties: [.writeWithoutResponse, .write, .notify, .indicate],
                    requiresEncryption: requiresEncryption)
            ])
    }
}
