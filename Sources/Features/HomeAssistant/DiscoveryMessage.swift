import AgentCore
import Groundwork

/// What a discovery message says of the board beside its entities.
struct AnnouncedDevice: Sendable, Equatable {
    /// Identifies the board at Home Assistant, and is a level of the message's topic.
    let id: String
    let name: String
    let model: String
    /// Where readings are published.
    let telemetryTopic: String
    /// Where the broker keeps `online` or `offline`; `nil` if it keeps neither.
    let availabilityTopic: String?

    /// An identifier as Home Assistant's topics allow it: other characters are replaced, and a checksum keeps what was
    /// different so.
    static func id(of device: String) -> String {
        let plain = device.map {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") ? $0 : "_"
        }
        let text = "latchkey-" + String(plain.prefix(128))
        guard String(plain) != device || plain.count > 128 else { return text }
        return "\(text)-\(String(CRC32.checksum(Array(device.utf8)), radix: 16))"
    }

    /// Who made a board of this model, if its name tells.
    private var manufacturer: String? { model.hasPrefix("Raspberry Pi") ? "Raspberry Pi" : nil }

    var members: [String: JSON] {
        var device: [String: JSON] = [
            "identifiers": [.string(id)], "name": .string(name), "model": .string(model),
            "sw_version": .string(Version.text),
        ]
        device["manufacturer"] = manufacturer.map(JSON.string)
        var members: [String: JSON] = [
            "device": .object(device), "origin": ["name": .string(Self.origin), "sw_version": .string(Version.text)],
            "state_topic": .string(telemetryTopic),
        ]
        if let availabilityTopic {
            members["availability_topic"] = .string(availabilityTopic)
            members["payload_available"] = "online"
            members["payload_not_available"] = "offline"
        }
        return members
    }

    static let origin = "Latchkey"
}

/// The message by which Home Assistant gets to know the board: device-based discovery, of version 2024.11 and later.
struct DiscoveryMessage: Sendable, Equatable {
    static let entityLimit = 256
    /// The most bytes of its payload.
    static let byteLimit = (64 << 10) - 1

    let device: AnnouncedDevice
    /// Those that have room, in the order in which they were given.
    let entities: [Entity]
    /// How many have no room.
    let leftOut: Int
    let payload: [UInt8]

    /// - Parameter limit: the most bytes that the outbox takes.
    init(_ device: AnnouncedDevice, _ all: [Entity], limit: Int = byteLimit) {
        self.device = device
        var bytes = Self.payload(device, [:]).count
        var entities: [Entity] = []
        for entity in all {
            bytes += JSON.object([entity.key: Self.component(entity, of: device)]).bytes.count
            guard entities.count < Self.entityLimit, bytes <= min(limit, Self.byteLimit) else { break }
            entities.append(entity)
        }
        self.entities = entities
        leftOut = all.count - entities.count
        payload = Self.payload(device, Self.components(entities, of: device))
    }

    /// The message that removes entities, and keeps the others: of a component that has its platform alone, Home
    /// Assistant removes the entity. One that the next message leaves out stays.
    ///
    /// - Parameter limit: the most bytes that the outbox takes; those that stay are left out rather than exceed it.
    func payload(removing gone: [String: Entity.Platform], limit: Int = byteLimit) -> [UInt8] {
        let removed = gone.mapValues { JSON.object(["platform": .string($0.rawValue)]) }
        let whole = Self.payload(
            device, Self.components(entities, of: device).merging(removed, uniquingKeysWith: { $1 }))
        return whole.count <= limit ? whole : Self.payload(device, removed)
    }

    private static func components(_ entities: [Entity], of device: AnnouncedDevice) -> [String: JSON] {
        Dictionary(entities.map { ($0.key, component($0, of: device)) }, uniquingKeysWith: { first, _ in first })
    }

    private static func component(_ entity: Entity, of device: AnnouncedDevice) -> JSON {
        .object(
            entity.configuration.merging(
                ["platform": .string(entity.platform.rawValue), "unique_id": .string("\(device.id)_\(entity.key)")],
                uniquingKeysWith: { $1 }))
    }

    private static func payload(_ device: AnnouncedDevice, _ components: [String: JSON]) -> [UInt8] {
        JSON.object(device.members.merging(["components": .object(components)], uniquingKeysWith: { $1 })).bytes
    }
}
