import Groundwork

/// The entities of a discovery message that the broker has kept: by their keys, with their platforms.
///
/// Anybody at the broker may have written it, so it is read strictly. Anything but a message of this board is none.
package struct FormerEntities: Sendable, Equatable {
    /// Twice that of a message, as one that removes entities has both the former and the present ones.
    static let entityLimit = 2 * DiscoveryMessage.entityLimit
    static let byteLimit = 128 << 10

    package let platforms: [String: Entity.Platform]

    /// - Parameter id: that of the board at Home Assistant.
    package init?(parsing bytes: [UInt8], of id: String) {
        guard let message = try? JSON(parsing: bytes, limit: Self.byteLimit),
            message["origin"]?["name"]?.string == AnnouncedDevice.origin,
            message["device"]?["identifiers"]?.array == [.string(id)],
            let components = message["components"]?.object, components.count <= Self.entityLimit
        else { return nil }
        var platforms: [String: Entity.Platform] = [:]
        for (key, component) in components {
            guard Entity.isKey(key), let name = component["platform"]?.string,
                let platform = Entity.Platform(rawValue: name)
            else { return nil }
            platforms[key] = platform
        }
        self.platforms = platforms
    }

    init(_ entities: [Entity]) {
        platforms = Dictionary(entities.map { ($0.key, $0.platform) }, uniquingKeysWith: { first, _ in first })
    }

    /// Those that do not exist any more. One that is of another platform now is another entity.
    func gone(from present: [Entity]) -> [String: Entity.Platform] {
        let present = FormerEntities(present).platforms
        return platforms.filter { present[$0.key] != $0.value }
    }
}
