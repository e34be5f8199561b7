@testable import Bluetooth

/// A service as MAG 8.1 has it, and one central.
enum Fixture {
    static let service = BluetoothUUID("7d9ae04f-9f28-4b62-8b1b-000000000001")!
    static let characteristic = BluetoothUUID("7d9ae04f-9f28-4b62-8b1b-000000000002")!
    static let central = CentralID(address: BluetoothAddress("C0:00:00:00:00:01", kind: .random)!, number: 1)
    static let now = ContinuousClock.now

    /// Handles: 1 to 5 generic access, 6 to 9 generic attribute, 10 the service, 11 the declaration, 12 the value, 13
    /// its configuration.
    enum Handle {
        static let name: UInt16 = 3
        static let service: UInt16 = 10
        static let declaration: UInt16 = 11
        static let value: UInt16 = 12
        static let configuration: UInt16 = 13
    }

    static func server(
        _ properties: CharacteristicProperties = [.writeWithoutResponse, .notify, .indicate], encrypted: Bool = false,
        name: String = "board", mtu: Int = 517, central: CentralID = central
    ) -> GATTServer {
        let own = LocalCharacteristic(uuid: characteristic, properties: properties, requiresEncryption: encrypted)
        let database = AttributeDatabase(service: LocalService(uuid: service, characteristics: [own]), deviceName: name)
        return GATTServer(central: central, database: database, mtuLimit: mtu)
    }

    static func client(mtu: Int = 517) -> GATTClient { GATTClient(peer: central, deviceName: "other", mtuLimit: mtu) }

    static func error(_ request: UInt8, at handle: UInt16, _ code: ATTErrorCode) -> [UInt8] {
        [0x01, request, UInt8(handle & 0xFF), UInt8(handle >> 8), code.rawValue]
    }

    static func written(_ value: [UInt8]) -> GATTServer.Effect {
        .event(.written(central, characteristic: characteristic, value: value))
    }
}

extension GATTServer {
    /// What comes of a packet, at a time that does not matter.
    mutating func receive(_ packet: [UInt8]) -> [Effect] { receive(packet, now: Fixture.now) }

    /// The answer to a request, which must be all that comes of it.
    mutating func answer(_ packet: [UInt8]) -> [UInt8]? {
        let effects = receive(packet)
        guard effects.count == 1, case .send(let answer) = effects[0] else { return nil }
        return answer
    }

    mutating func notify(_ value: [UInt8], ticket: Int = 1) -> [Effect] {
        notify(value, characteristic: Fixture.characteristic, ticket: ticket, now: Fixture.now)
    }
}

extension GATTClient {
    mutating func receive(_ packet: [UInt8]) -> [Effect] { receive(packet, now: Fixture.now) }

    mutating func start(_ operation: GATTOperation, ticket: Int = 1) -> [Effect] {
        start(operation, ticket: ticket, now: Fixture.now)
    }
}

extension [GATTServer.Effect] {
    /// The tickets that failed by a rule of this side.
    var refused: [Int] { compactMap { if case .failed(let ticket, .failed) = $0 { ticket } else { nil } } }
    var isClosing: Bool { if case .close(.failed)? = last { true } else { false } }
}

extension [GATTClient.Effect] {
    var refused: [Int] { compactMap { if case .failed(let ticket, .failed) = $0 { ticket } else { nil } } }
    var isClosing: Bool { if case .close(.failed)? = last { true } else { false } }
    /// Of a discovery that ended.
    var found: RemoteCharacteristic? {
        compactMap { if case .finished(_, .characteristic(let found)) = $0 { found } else { nil } }.first
    }
}

/// A client and a server, with packets carried between them until both are quiet.
struct Link {
    var client: GATTClient
    var server: GATTServer
    var outcomes: [Int: GATTOperation.Outcome] = [:]
    var failures: [Int: BluetoothError] = [:]
    var values: [RemoteValue] = []
    var events: [PeripheralEvent] = []
    var delivered: [Int] = []
    /// Of the longest packet that went over.
    var longest = 0
    var isClosed = false

    mutating func run(_ operation: GATTOperation) -> GATTOperation.Outcome? {
        carry(client.start(operation, ticket: outcomes.count + failures.count))
        return outcomes[outcomes.count + failures.count - 1]
    }

    /// The characteristic of the fixture's service, found by the client; `nil` when it is not there.
    mutating func found() -> RemoteCharacteristic? {
        let discovery = GATTOperation.discover(service: Fixture.service, characteristic: Fixture.characteristic)
        guard case .characteristic(let found)? = run(discovery) else { return nil }
        return found
    }

    mutating func notify(_ value: [UInt8]) { carry(server.notify(value, ticket: delivered.count)) }

    mutating func carry(_ effects: [GATTClient.Effect]) {
        for effect in effects {
            switch effect {
            case .send(let packet):
                longest = max(longest, packet.count)
                carry(server.receive(packet))
            case .finished(let ticket, let outcome): outcomes[ticket] = outcome
            case .failed(let ticket, let error): failures[ticket] = error
            case .value(let value): values.append(value)
            case .close: isClosed = true
            }
        }
    }

    mutating func carry(_ effects: [GATTServer.Effect]) {
        for effect in effects {
            switch effect {
            case .send(let packet):
                longest = max(longest, packet.count)
                carry(client.receive(packet))
            case .event(let event): events.append(event)
            case .delivered(let ticket): delivered.append(ticket)
            case .failed(let ticket, let error): failures[ticket] = error
            case .close: isClosed = true
            }
        }
    }
}
