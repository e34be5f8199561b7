/// This board's side of one bearer as a client: operations and packets in; packets, outcomes and values out (Bluetooth
/// Core, Vol 3 Parts F and G).
///
/// Operations are performed in order, with one request outstanding. The other device may be a client on the same
/// bearer: its requests are answered from a database with this board's name. The owner calls ``advance(to:)`` at
/// ``deadline``.
struct GATTClient: Sendable {
    enum Effect: Sendable, Equatable {
        case send([UInt8])
        case finished(ticket: Int, GATTOperation.Outcome)
        case failed(ticket: Int, BluetoothError)
        /// A notification or an indication of a characteristic that was discovered.
        case value(RemoteValue)
        /// The last effect: the connection must be closed, and nothing more comes from this client any more.
        case close(BluetoothError)
    }

    /// The most waiting operations.
    static let queueLimit = 1024

    private struct Waiting: Sendable { let ticket: Int, operation: GATTOperation }

    /// The operation whose request is outstanding.
    private struct Running: Sendable {
        let ticket: Int
        let operation: GATTOperation
        var request: [UInt8]
        var discovery: Discovery?
        /// The value read so far.
        var value: [UInt8] = []
    }

    private var server: GATTServer
    private var waiting: [Waiting] = []
    private var running: Running?
    private var hasEnded = false
    /// The characteristics discovered, by the handle of the value.
    private var discovered: [UInt16: Discovery.Found] = [:]

    /// When the outstanding request is given up.
    private(set) var deadline: ContinuousClock.Instant?

    /// Bytes of the longest packet, both ways.
    var mtu: Int { server.mtu }

    /// - Parameters:
    ///   - peer: used in messages only
    ///   - deviceName: the name that the other device reads
    init(peer: CentralID, deviceName: String, mtuLimit: Int = ATT.largestMTU) {
        server = GATTServer(
            central: peer, database: AttributeDatabase(service: nil, deviceName: deviceName), mtuLimit: mtuLimit)
    }

    /// - Parameter ticket: the owner's ticket, returned with ``Effect/finished(ticket:_:)`` or
    ///   ``Effect/failed(ticket:_:)``
    mutating func start(_ operation: GATTOperation, ticket: Int, now: ContinuousClock.Instant) -> [Effect] {
        guard !hasEnded else { return [.failed(ticket: ticket, .disconnected)] }
        guard waiting.count < Self.queueLimit else {
            return [.failed(ticket: ticket, .failed(operation: operation.words, reason: "too many operations wait"))]
        }
        waiting.append(Waiting(ticket: ticket, operation: operation))
        return running == nil ? proceed(now: now) : []
    }

    mutating func receive(_ packet: [UInt8], now: ContinuousClock.Instant) -> [Effect] {
        guard !hasEnded else { return [] }
        guard let code = packet.first, packet.count <= server.mtuLimit else {
            return violated("it sent a packet of \(packet.count) bytes")
        }
        switch ATTOpcode(rawValue: code).map({ ($0, $0.role) }) {
        case (let opcode, .response)?: return received(opcode, packet.dropFirst(), now: now)
        case (.notification, _)?: return value(packet)
        case (.indication, _)?: return [.send([ATTOpcode.confirmation.rawValue])] + value(packet)
        default:
            return server.receive(packet, now: now).compactMap {
                if case .send(let answer) = $0 { .send(answer) } else { nil }
            }
        }
    }

    /// Gives up an operation that waited too long: the bearer must not be used any further (Part F 3.3.3).
    mutating func advance(to now: ContinuousClock.Instant) -> [Effect] {
        guard let deadline, deadline <= now else { return [] }
        return end(.timedOut(operation: running?.operation.words ?? ""))
    }

    /// Fails everything that waits. Called by the owner when the connection is gone or must be closed.
    mutating func end(_ error: BluetoothError) -> [Effect] {
        guard !hasEnded else { return [] }
        hasEnded = true
        deadline = nil
        let tickets = (running.map { [$0.ticket] } ?? []) + waiting.map(\.ticket)
        (running, waiting) = (nil, [])
        return tickets.map { .failed(ticket: $0, error) } + [.close(error)]
    }

    private mutating func violated(_ reason: String) -> [Effect] {
        end(.failed(operation: running?.operation.words ?? "use the connection", reason: reason))
    }

    private func value(_ packet: [UInt8]) -> [Effect] {
        var reader = PacketReader(packet.dropFirst())
        guard let handle = reader.uint16(), let found = discovered[handle] else { return [] }
        return [.value(RemoteValue(characteristic: found.characteristic.uuid, bytes: Array(reader.rest)))]
    }
}

// MARK: - Requests

extension GATTClient {
    /// Starts waiting operations, up to the first one that needs an answer.
    private mutating func proceed(now: ContinuousClock.Instant) -> [Effect] {
        var effects: [Effect] = []
        while running == nil, !waiting.isEmpty {
            let next = waiting.removeFirst()
            effects += begin(next.operation, ticket: next.ticket, now: now)
        }
        return effects
    }

    private mutating func begin(_ operation: GATTOperation, ticket: Int, now: ContinuousClock.Instant) -> [Effect] {
        var discovery: Discovery?
        let request: [UInt8]
        switch operation {
        case .exchangeMTU: request = ATT.packet(.exchangeMTURequest, UInt16(server.mtuLimit))
        case .discover(let service, let characteristic):
            var new = Discovery(service: service, characteristic: characteristic)
            request = new.begin()
            discovery = new
        case .subscribe(let characteristic):
            guard let handle = discovered[characteristic.handle]?.configurationHandle else {
                return [.finished(ticket: ticket, .subscribed(false))]
            }
            let isIndicated =
                characteristic.properties.isDisjoint(with: .notify) && characteristic.properties.contains(.indicate)
            request = ATT.packet(.writeRequest, handle, isIndicated ? 2 : 1)
        case .read(let characteristic): request = ATT.packet(.readRequest, characteristic.handle)
        case .write(let value, let characteristic, let withResponse):
            guard value.count <= mtu - 3, value.count <= ATT.valueLimit else {
                return [.failed(ticket: ticket, .tooLong)]
            }
            let packet = ATT.packet(withResponse ? .writeRequest : .writeCommand, characteristic.handle, bytes: value)
            guard withResponse else { return [.send(packet), .finished(ticket: ticket, .written)] }
            request = packet
        }
        running = Running(ticket: ticket, operation: operation, request: request, discovery: discovery)
        deadline = now + ATT.transactionLimit
        return [.send(request)]
    }

    private mutating func ask(_ request: [UInt8], now: ContinuousClock.Instant) -> [Effect] {
        running?.request = request
        deadline = now + ATT.transactionLimit
        return [.send(request)]
    }

    private mutating func finish(_ outcome: GATTOperation.Outcome, now: ContinuousClock.Instant) -> [Effect] {
        let ticket = running?.ticket ?? 0
        (running, deadline) = (nil, nil)
        return [.finished(ticket: ticket, outcome)] + proceed(now: now)
    }

    private mutating func fail(_ error: BluetoothError, now: ContinuousClock.Instant) -> [Effect] {
        let ticket = running?.ticket ?? 0
        (running, deadline) = (nil, nil)
        return [.failed(ticket: ticket, error)] + proceed(now: now)
    }

    private mutating func received(_ opcode: ATTOpcode, _ body: ArraySlice<UInt8>, now: ContinuousClock.Instant)
        -> [Effect]
    {
        // An unexpected answer is ignored.
        guard let request = running?.request.first else { return [] }
        var reader = PacketReader(body)
        if opcode == .errorResponse {
            guard reader.byte() == request, reader.uint16() != nil, let code = reader.byte(), reader.rest.isEmpty else {
                return violated("it answered with an error of another request")
            }
            return refused(ATTErrorCode(rawValue: code), now: now)
        }
        // For all requests made here, the answer's opcode is the request's plus 1.
        guard opcode.rawValue == request + 1 else { return violated("it answered another request") }
        switch opcode {
        case .exchangeMTUResponse:
            guard let offered = reader.uint16(), reader.rest.isEmpty else { return malformed(now: now) }
            server.mtu = max(ATT.defaultMTU, min(Int(offered), server.mtuLimit))
            return finish(.mtu(mtu), now: now)
        case .readResponse, .readBlobResponse: return read(body, now: now)
        case .writeResponse:
            if case .subscribe? = running?.operation { return finish(.subscribed(true), now: now) }
            return finish(.written, now: now)
        default:
            return advanceDiscovery(now: now) { (discovery) throws(Discovery.Malformed) in try discovery.receive(body) }
        }
    }

    private mutating func refused(_ code: ATTErrorCode, now: ContinuousClock.Instant) -> [Effect] {
        guard let running else { return [] }
        switch running.operation {
        case .exchangeMTU: return finish(.mtu(mtu), now: now)
        case .subscribe: return finish(.subscribed(false), now: now)
        // The value fills exactly one packet: some devices then refuse to read further (Part F 3.4.4.5).
        case .read where !running.value.isEmpty && [.attributeNotLong, .invalidOffset].contains(code):
            return finish(.value(running.value), now: now)
        case .discover:
            let error = BluetoothError.att(code, operation: running.operation.words)
            return advanceDiscovery(now: now, orFail: error) { (discovery) throws(Discovery.Malformed) in
                try discovery.refused(code)
            }
        case .read, .write: return fail(.att(code, operation: running.operation.words), now: now)
        }
    }

    private mutating func advanceDiscovery(
        now: ContinuousClock.Instant, orFail error: BluetoothError? = nil,
        _ step: (inout Discovery) throws(Discovery.Malformed) -> Discovery.Progress?
    ) -> [Effect] {
        guard var discovery = running?.discovery else { return malformed(now: now) }
        do throws(Discovery.Malformed) {
            let progress = try step(&discovery)
            running?.discovery = discovery
            switch progress {
            case .ask(let request): return ask(request, now: now)
            case .done(let found):
                guard var found else { return finish(.characteristic(nil), now: now) }
                found.characteristic.hasConfigurationDescriptor = found.configurationHandle != nil
                discovered[found.characteristic.handle] = found
                return finish(.characteristic(found.characteristic), now: now)
            case nil: return fail(error ?? .disconnected, now: now)
            }
        } catch {
            return malformed(now: now)
        }
    }

    /// Reads on while packets are full, up to the longest value.
    private mutating func read(_ part: ArraySlice<UInt8>, now: ContinuousClock.Instant) -> [Effect] {
        guard case .read(let characteristic)? = running?.operation else { return malformed(now: now) }
        running?.value += part
        let value = running?.value ?? []
        guard part.count >= mtu - 1, value.count < ATT.valueLimit else {
            return finish(.value(Array(value.prefix(ATT.valueLimit))), now: now)
        }
        return ask(ATT.packet(.readBlobRequest, characteristic.handle, UInt16(value.count)), now: now)
    }

    /// Fails the operation. The request has been answered, although badly, so the bearer can still be used.
    private mutating func malformed(now: ContinuousClock.Instant) -> [Effect] {
        fail(
            .failed(operation: running?.operation.words ?? "", reason: "the other device's answer cannot be read"),
            now: now)
    }
}
