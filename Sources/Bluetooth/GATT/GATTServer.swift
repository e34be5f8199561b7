/// This board's side of one bearer as a server: packets in; packets, events and decisions out (Bluetooth Core, Vol 3
/// Parts F and G).
///
/// It answers every packet at once, and uses no socket and no clock: its owner sends the packets, passes on events,
/// and calls ``advance(to:)`` at ``deadline``. An owner that cannot send must stop receiving: only indications are
/// queued here.
struct GATTServer: Sendable {
    enum Effect: Sendable, Equatable {
        case send([UInt8])
        case event(PeripheralEvent)
        /// A value was sent, or its indication confirmed.
        case delivered(ticket: Int)
        case failed(ticket: Int, BluetoothError)
        /// The last effect: the connection must be closed, and nothing more comes from this server any more.
        case close(BluetoothError)
    }

    enum LinkSecurity: Sendable {
        case open
        /// There are keys, but the link is not encrypted.
        case bonded
        case encrypted
    }

    /// The most indications waiting behind the outstanding one (Part F 3.3.2).
    static let indicationLimit = 32

    private struct Indication: Sendable { let ticket: Int, packet: [UInt8] }

    let central: CentralID
    let database: AttributeDatabase
    /// The longest packet that this board can receive, in bytes.
    let mtuLimit: Int
    /// The longest packet in use in both directions, in bytes.
    var mtu = ATT.defaultMTU
    /// The connection's security, set by the owner.
    var security = LinkSecurity.open
    var prepared = PreparedWrites()
    /// The client's value of each Client Characteristic Configuration, by the characteristic's index in the database.
    var configurations: [Int: UInt16] = [:]
    /// The values last sent, which are also the answers to reads.
    var values: [Int: [UInt8]] = [:]

    private var hasExchangedMTU = false
    private var hasEnded = false
    /// The first one is outstanding, the others wait.
    private var indications: [Indication] = []

    /// When the outstanding indication is given up.
    private(set) var deadline: ContinuousClock.Instant?

    /// - Parameter mtuLimit: 23 to 517
    init(central: CentralID, database: AttributeDatabase, mtuLimit: Int = ATT.largestMTU) {
        self.central = central
        self.database = database
        self.mtuLimit = min(max(mtuLimit, ATT.defaultMTU), ATT.largestMTU)
    }

    mutating func receive(_ packet: [UInt8], now: ContinuousClock.Instant) -> [Effect] {
        guard !hasEnded else { return [] }
        guard let code = packet.first, packet.count <= mtuLimit else {
            return end(.failed(operation: "serve \(central)", reason: "it sent a packet of \(packet.count) bytes"))
        }
        guard let opcode = ATTOpcode(rawValue: code) else {
            return code & ATTOpcode.commandFlag != 0 ? [] : [.send(ATTRefusal(.requestNotSupported).response(to: code))]
        }
        var reader = PacketReader(packet.dropFirst())
        var events: [PeripheralEvent] = []
        switch opcode.role {
        case .request:
            do throws(ATTRefusal) {
                let answer = try answer(opcode, &reader, &events)
                return [.send(answer)] + events.map(Effect.event)
            } catch {
                return [.send(error.response(to: code))]
            }
        case .command:
            if opcode == .confirmation { return packet.count == 1 ? confirmed(now: now) : [] }
            // Signed writes need keys that this board does not have.
            guard opcode == .writeCommand else { return [] }
            try? write(&reader, &events)
            return events.map(Effect.event)
        // The other device may have a server and send indications: it waits for the confirmation (Part F 3.4.7.3).
        case .value: return opcode == .indication ? [.send([ATTOpcode.confirmation.rawValue])] : []
        case .response: return []
        }
    }

    private mutating func answer(
        _ opcode: ATTOpcode, _ reader: inout PacketReader, _ events: inout [PeripheralEvent]
    ) throws(ATTRefusal) -> [UInt8] {
        switch opcode {
        case .exchangeMTURequest: return try exchangeMTU(&reader)
        case .findInformationRequest: return try findInformation(&reader)
        case .findByTypeValueRequest: return try findByTypeValue(&reader)
        case .readByTypeRequest: return try readByType(&reader)
        case .readByGroupTypeRequest: return try readByGroupType(&reader)
        case .readRequest: return try read(&reader)
        case .readBlobRequest: return try readBlob(&reader)
        case .writeRequest:
            try write(&reader, &events)
            return [ATTOpcode.writeResponse.rawValue]
        case .prepareWriteRequest: return try prepareWrite(&reader)
        case .executeWriteRequest: return try executeWrite(&reader, &events)
        default: throw ATTRefusal(.requestNotSupported)
        }
    }

    /// Part F 3.4.2: once per connection; the smaller of both limits applies.
    private mutating func exchangeMTU(_ reader: inout PacketReader) throws(ATTRefusal) -> [UInt8] {
        guard let offered = reader.uint16(), reader.rest.isEmpty else { throw ATTRefusal(.invalidPDU) }
        guard !hasExchangedMTU else { throw ATTRefusal(.requestNotSupported) }
        hasExchangedMTU = true
        mtu = max(ATT.defaultMTU, min(Int(offered), mtuLimit))
        return ATT.packet(.exchangeMTUResponse, UInt16(mtuLimit))
    }
}

// MARK: - Sending

extension GATTServer {
    /// Sends a value in the mode that the client enabled, or as a notification if it enabled none (MAG 8.2).
    ///
    /// - Parameter ticket: the owner's ticket, returned with ``Effect/delivered(ticket:)`` or
    ///   ``Effect/failed(ticket:_:)``
    mutating func notify(
        _ value: [UInt8], characteristic: BluetoothUUID, ticket: Int, now: ContinuousClock.Instant
    ) -> [Effect] {
        guard !hasEnded else { return [.failed(ticket: ticket, .disconnected)] }
        guard let index = database.index(of: characteristic),
            !database.characteristics[index].properties.isDisjoint(with: [.notify, .indicate])
        else { return refuse(ticket, "\(characteristic) is not a characteristic that sends values") }
        guard !database.characteristics[index].requiresEncryption || security == .encrypted else {
            return refuse(ticket, "the connection is not encrypted")
        }
        guard value.count <= mtu - 3, value.count <= ATT.valueLimit else { return [.failed(ticket: ticket, .tooLong)] }
        let handle = database.valueHandles[index]
        let mode =
            Self.mode(configurations[index] ?? 0)
            ?? (database.characteristics[index].properties.contains(.notify) ? .notify : .indicate)
        if mode == .notify {
            values[index] = value
            return [.send(ATT.packet(.notification, handle, bytes: value)), .delivered(ticket: ticket)]
        }
        guard indications.count <= Self.indicationLimit else { return refuse(ticket, "too many indications wait") }
        values[index] = value
        indications.append(Indication(ticket: ticket, packet: ATT.packet(.indication, handle, bytes: value)))
        return indications.count == 1 ? sendIndication(now: now) : []
    }

    /// Gives up an indication that waited too long.
    mutating func advance(to now: ContinuousClock.Instant) -> [Effect] {
        guard let deadline, deadline <= now else { return [] }
        return end(.timedOut(operation: "confirm an indication"))
    }

    /// Fails everything that waits. Called by the owner when the connection is gone or must be closed.
    mutating func end(_ error: BluetoothError) -> [Effect] {
        guard !hasEnded else { return [] }
        hasEnded = true
        deadline = nil
        prepared.clear()
        defer { indications = [] }
        return indications.map { .failed(ticket: $0.ticket, error) } + [.close(error)]
    }

    /// - Returns: `nil` if nothing is enabled; `notify` if both are
    static func mode(_ configuration: UInt16) -> SubscriptionMode? {
        configuration & 1 != 0 ? .notify : configuration & 2 != 0 ? .indicate : nil
    }

    private func refuse(_ ticket: Int, _ reason: String) -> [Effect] {
        [.failed(ticket: ticket, .failed(operation: "send a value to \(central)", reason: reason))]
    }

    private mutating func sendIndication(now: ContinuousClock.Instant) -> [Effect] {
        deadline = indications.isEmpty ? nil : now + ATT.transactionLimit
        return indications.first.map { [.send($0.packet)] } ?? []
    }

    private mutating func confirmed(now: ContinuousClock.Instant) -> [Effect] {
        guard !indications.isEmpty else { return [] }
        let ticket = indications.removeFirst().ticket
        return [.delivered(ticket: ticket)] + sendIndication(now: now)
    }
}
