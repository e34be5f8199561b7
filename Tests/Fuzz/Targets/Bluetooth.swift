@testable import Bluetooth

extension FuzzTarget {
    private static let peer = CentralID(address: BluetoothAddress(bytes: [2, 0, 0, 0, 0, 1], kind: .random), number: 1)
    private static let uuid = BluetoothUUID(short: 0xFF01)
    private static let service = LocalService(
        uuid: BluetoothUUID(short: 0xFF00),
        characteristics: [
            LocalCharacteristic(uuid: uuid, properties: [.read, .write, .writeWithoutResponse, .notify, .indicate])
        ])

    /// A first byte with the length of each packet, as many as there are.
    private static func packets(_ bytes: [UInt8]) -> [[UInt8]] {
        var rest = bytes[...]
        var packets: [[UInt8]] = []
        while let length = rest.popFirst() {
            packets.append(Array(rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        return packets
    }

    /// What came of a client.
    private struct Seen {
        /// How often each operation ended.
        var ends: [Int: Int] = [:]
        var hasFound = false

        mutating func look(_ effects: [GATTClient.Effect], mtu: Int) throws(Violation) {
            for effect in effects {
                switch effect {
                case .send(let packet): try require((1...mtu).contains(packet.count), "a packet fits the MTU")
                case .failed(let ticket, _): ends[ticket, default: 0] += 1
                case .finished(let ticket, let outcome):
                    ends[ticket, default: 0] += 1
                    if case .characteristic(let found?) = outcome {
                        try require(found.uuid == uuid && found.handle > 0, "what is found is what was looked for")
                        hasFound = true
                    }
                    if case .value(let value) = outcome {
                        try require(value.count <= ATT.valueLimit, "no value is longer than 512 bytes")
                    }
                case .value, .close: break
                }
            }
        }
    }

    static let bluetooth = [
        FuzzTarget(name: "advertising-data") { bytes throws(Violation) in
            let found = AdvertisingData(parsing: bytes)
            try require(
                found.services.count * 2 + (found.name?.utf8.count ?? 0) / 3 <= bytes.count,
                "nothing is found that was not sent")
            return found.services.isEmpty && found.name == nil ? .refused : .accepted
        },
        FuzzTarget(name: "management-message") { bytes throws(Violation) in
            guard let message = ManagementMessage(parsing: bytes) else { return .refused }
            guard case .answer(_, _, let parameters) = message.event else { return .accepted }
            try require(parameters.count + 9 <= bytes.count, "nothing is read beyond the message")
            if let indexes = AdapterInformation.indexes(parsing: parameters) {
                try require(indexes.count * 2 + 2 <= parameters.count, "no adapter is told of that was not listed")
            }
            _ = AdapterInformation(parsing: parameters)
            return .accepted
        },
        FuzzTarget(name: "att-server") { bytes throws(Violation) in
            var server = GATTServer(central: peer, database: AttributeDatabase(service: service, deviceName: "board"))
            let now = ContinuousClock.now
            var (hasWritten, isClosed) = (false, false)
            for (ticket, packet) in packets(bytes).enumerated() {
                let effects = server.receive(packet, now: now)
                try require(effects.isEmpty || !isClosed, "nothing comes of a bearer that has ended")
                var answers = 0
                for effect in effects {
                    switch effect {
                    case .send(let answer):
                        try require((1...server.mtu).contains(answer.count), "an answer fits the MTU")
                        answers += 1
                    case .event(.written(_, _, let value)):
                        try require(value.count <= ATT.valueLimit, "no value is longer than 512 bytes")
                        hasWritten = true
                    case .close: isClosed = true
                    default: break
                    }
                }
                try require(answers <= 1, "one packet, one answer")
                let isRequest = packet.first.map { ATTOpcode(rawValue: $0)?.role == .request } == true
                try require(!isRequest || isClosed || answers == 1, "a request is answered")
                _ = server.notify([UInt8(truncatingIfNeeded: ticket)], characteristic: uuid, ticket: ticket, now: now)
            }
            return hasWritten ? .accepted : .refused
        },
        FuzzTarget(name: "att-client") { bytes throws(Violation) in
            var client = GATTClient(peer: peer, deviceName: "board")
            let now = ContinuousClock.now
            var seen = Seen()
            let anything = RemoteCharacteristic(
                uuid: uuid, properties: .notify, hasConfigurationDescriptor: true, handle: 3)
            let operations: [GATTOperation] = [
                .exchangeMTU, .discover(service: service.uuid, characteristic: uuid), .subscribe(anything),
                .read(anything),
                .write([1], anything, withResponse: true), .write([2], anything, withResponse: false),
            ]
            for (ticket, operation) in operations.enumerated() {
                try seen.look(client.start(operation, ticket: ticket, now: now), mtu: client.mtu)
            }
            for packet in packets(bytes) { try seen.look(client.receive(packet, now: now), mtu: client.mtu) }
            try seen.look(client.end(.disconnected), mtu: client.mtu)
            try require(
                seen.ends.count == operations.count && seen.ends.values.allSatisfy { $0 == 1 },
                "every operation ends once")
            try require(client.deadline == nil, "nothing is waited for at the end")
            return seen.hasFound ? .accepted : .refused
        },
    ]
}
